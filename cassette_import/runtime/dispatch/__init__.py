"""Dispatch: which calls are events, which hooks and overloads they select, and how these run.

It calls `tagging.propagation`, which each event plan refers to.

Registering and choosing:

* `hook_points`: `Ctx.prehook.register` and the like, and the tables of all handlers of a context type
* `hook_functions`: the copies that are called as hooks; `overload_resolution`: which handler a call selects
* `hook_analysis`: what a hook reads and calls, according to its bytecode
* `bound_hooks`, `suspension`: hooks that are ready to be called, while their context is suspended

Running events:

* `event_plan`: what a stack of contexts does with one kind of event, and with one that fails
* `event_runner`: the functions that do it: the hooks around a call, the innermost overload, shorter ways
* `direct_events`: events that need no search where values may be tagged
* `call_sites`: where in the program an event is

Finding out whether a call is an event:

* `event_runner`: by the callee, for one variant; `active_interception`: for whichever variant is active
* `callee_proxy`: what the call site calls instead; `higher_order`: leaves that call their arguments
* `guards`: what a call site learns about callees that are not intercepted, with `callee_stability`
"""
