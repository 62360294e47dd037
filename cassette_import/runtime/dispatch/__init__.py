"""Dispatch: which calls are events, which hooks and overloads they select, and how these run.

It calls `tagging.propagation`, which each event plan refers to.

Registering and choosing:

* `hook_points`: `Ctx.prehook.register` and the like; `hook_functions`: the copies that are called as hooks
* `handler_table`, `overload_resolution`: all handlers of a context type; which of them a call selects
* `hook_analysis`: what a hook reads and calls, according to its bytecode
* `bound_hooks`, `suspension`: hooks that are ready to be called, while their context is suspended

Running events:

* `event_plan`: what a stack of contexts does with one kind of event; `event_runner`: the functions that do it
* `event_execution`: the hooks around a call, the innermost overload; `failed_events`: the errorhooks
* `shortcut_events`: events that need no search; `direct_events`: the same where values may be tagged
* `call_sites`: where in the program an event is

Finding out whether a call is an event:

* `callee_interception`: by the callee, for one variant; `active_interception`: for whichever variant is active
* `callee_proxy`: what the call site calls instead; `higher_order`: leaves that call their arguments
* `guards`: what a call site learns about callees that are not intercepted, with `callee_stability` and
  `method_shortcuts`
"""
