"""`Context`: what hooks, overloads and passes belong to, and what is entered to make them active."""

from __future__ import annotations

import atexit
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType, ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from cassette_import.activation.activations import ReadyActivation, refresh
from cassette_import.activation.adoption import (
    adopted_file,
    entering_frame,
    instrument_functions_of,
    makes_functions,
    warn_if_nothing_was_met,
)
from cassette_import.activation.entering import (
    activation_of,
    active_here,
    enter,
    execute,
    exit_context,
    is_one_event,
    leave,
)
from cassette_import.activation.escape_reporters import ESCAPE_REPORTERS, watch_to_enter
from cassette_import.activation.inheritance import WAITING
from cassette_import.activation.root_calls import activation_of_root, driven_in, result_in_c, run_root
from cassette_import.activation.variants import StackVariant, VariantKey, variants
from cassette_import.errors import CassetteWarning
from cassette_import.importing.post_import import POST_IMPORT
from cassette_import.interpreter.callables import python_function
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.late_modules import late
from cassette_import.rewriting import symbols
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.symbols import IS_ANY_ACTIVE
from cassette_import.runtime import bindings
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.dispatch.higher_order import HIGHER_ORDER
from cassette_import.runtime.dispatch.hook_functions import HOOK_FUNCTIONS, KINDS
from cassette_import.runtime.dispatch.hook_points import HookPoint, hook_points_of
from cassette_import.runtime.module_imports import MODULE_IMPORTS
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.state import ACTIVE, EXEMPT_MANAGERS, IN_USE, INACTIVE, Activation
from cassette_import.runtime.tagging.overdubbed_calls import WRAPPER_AWARE
from cassette_import.runtime.variant import ActiveVariant, Family
from cassette_import.specialization import hook_copies
from cassette_import.specialization.registry import registry

# ---- hook methods: the hook points that take the places of the methods `prehook`, `overdub`, ... of context types


def add_hook_points(context_type: type, recurse: Callable[..., Any]) -> None:
    """Replace the hook methods of a class by hook points, which call the methods and register handlers.

    `recurse` is what the overload of a context type does that defines none.
    """
    for kind in KINDS:
        _add_hook_point(context_type, kind, recurse)


def add_assigned_methods(context_type: type, base: type, recurse: Callable[..., Any]) -> None:
    """Make hook points of methods that were assigned after the class was created: `Ctx.prehook = function`.

    The classes are those that inherit from `base`.
    """
    for cls in context_type.__mro__:
        if issubclass(cls, base):
            for kind in KINDS:
                if not isinstance(cls.__dict__.get(kind), HookPoint):
                    _add_hook_point(cls, kind, recurse)


def _add_hook_point(cls: type, kind: str, recurse: Callable[..., Any]) -> None:
    there = cls.__dict__.get(kind)
    own = there.method if isinstance(there, HookPoint) else there
    inherited = None
    if own is None:
        for base in cls.__mro__[1:]:
            found = base.__dict__.get(kind)
            if isinstance(found, HookPoint):
                found = inherited = found.method
            elif found is not None:  # of a mix-in class that is no context
                own = found
            if found is not None:
                break
    if isinstance(own, (staticmethod, classmethod)):
        own = own.__get__(None, cls)
    if own is not None and not callable(own):
        raise TypeError(f"{cls.__qualname__}.{kind} must be a method, not {own!r}")
    default = recurse if kind == "overdub" else _do_nothing
    setattr(cls, kind, HookPoint(kind, cls, own, inherited or default, _changed))


def _do_nothing(context: Any, /, *arguments: Any, **keywords: Any) -> None:
    """The hook of a context type that defines none."""


def _changed(context_type: type) -> None:
    """Refresh what is active where handlers of a context type were registered; have its unreached targets named."""
    if not (_REPORTING or context_type.__module__.partition(".")[0] == _PACKAGE):
        _REPORTING.append(os.getpid())
        atexit.register(_report_unreached)
    for activation in variants.changed(context_type):
        refresh(activation)


def _report_unreached() -> None:
    from cassette_import.activation.unreached_targets import take_unreached  # late: few runs need it before their end
    from cassette_import.runtime.dispatch.unfitting_handlers import issue_at_end

    issue_at_end(take_unreached, _REPORTING[0])


_PACKAGE: Final = __name__.partition(".")[0]
_REPORTING: Final[list[int]] = []
"""The process that names unreached targets when it ends."""


# ---- defaults of context types


class TypeDefaults:
    """What most contexts of a type share: their events, their passes and the key for these.

    Once some code has entered one of them, `latest` says what its next entry makes active. `Context.__enter__` reads
    it, also in C.
    """

    __slots__ = ("_known", "events", "key", "latest", "passes")

    def __init__(self, events: Events, passes: Sequence[Any], key: VariantKey) -> None:
        self.events = events
        self.passes = passes
        self.key = key
        self.forget_entries()

    def forget_entries(self) -> None:
        """Have the next entries find their roots and variants anew."""
        self.latest: Any = _NO_ENTRY
        self._known: dict[tuple[int, ...], ReadyEntry] = {}  # by the `id()` of the first three parts

    def note_entry(self, code: CodeType, activation: Activation) -> None:
        """Note what an entry has made active, if the next one by the same code will make the same active."""
        outer, variant = activation.outer, activation.variant
        if outer is None or variant is None or activation.tags or outer.suspended is not None:
            return
        # Another thread may have entered an instance with other events meanwhile, or one further out has got others.
        if variant.keys != (*(() if outer.variant is None else outer.variant.keys), self.key):
            return
        if len(self._known) == _MOST_ENTRIES:  # a program may compile code without end
            self.forget_entries()
        entry = code, outer.variant, outer.roots, activation.roots, variant, variant.family, variant.instrumented_at
        self.latest = self._known[id(code), id(outer.variant), id(outer.roots)] = entry

    def known(self, code: CodeType, outer_variant: ActiveVariant | None, outer_roots: frozenset[str]) -> Any:
        """The `ReadyEntry` of some code where a variant is active, with its roots; None if there was none."""
        found = self._known.get((id(code), id(outer_variant), id(outer_roots)))
        if found is not None:
            self.latest = found
        return found


ReadyEntry = tuple[
    CodeType, ActiveVariant | None, frozenset[str], frozenset[str], ActiveVariant, Family, dict[frozenset[str], int]
]
"""Code that enters contexts; the variant and the roots that are active there; the roots and the variant in the block,
and what this variant keeps for good: its family, and what it is instrumented for."""
_NO_ENTRY: Final[tuple[None, None, None]] = None, None, None
_MOST_ENTRIES: Final = 1000


# ---- methods of context types whose names are misspellings of hooks: no event calls them, so there is a warning

_METHODS = type(lambda: None), staticmethod, classmethod


def warn_of_misspelled_hooks(context_type: type) -> None:
    """Warn of each method that is written like a hook, if the class and its bases have no hook of this kind.

    Where they have one, it may well call the method: ``pre_hook`` may be what subclasses define.
    """
    for name, value in tuple(context_type.__dict__.items()):
        if name[0] not in _FIRST_LETTERS or not isinstance(value, _METHODS):
            continue
        for kind in KINDS:
            if is_misspelling(name, kind) and not _has_hook(context_type, kind):
                function = python_function(value)
                if function is not None:
                    code = function.__code__
                    text = f"{context_type.__qualname__}.{name} is no hook, and no event calls it; did you mean {kind}?"
                    warnings.warn_explicit(text, CassetteWarning, code.co_filename, code.co_firstlineno, registry={})


def is_misspelling(name: str, kind: str) -> bool:
    """Whether a name can only be meant as that of a hook.

    It has other capitals or underscores, or is one word in which a letter is missing, added or has changed places with
    the next one. Names that say more (``prehooks``, ``overdub_call``) and private names are chosen on purpose.

    >>> [name for name in ("preHook", "pre_hook", "prehok", "prehooks", "_prehook") if is_misspelling(name, "prehook")]
    ['preHook', 'pre_hook', 'prehok']
    """
    word = name.lower()
    if name == kind or word.strip("_") != word:
        return False
    if word.replace("_", "") == kind:
        return True
    if "_" in word or word[0] != kind[0] or kind in word:
        return False
    shorter, longer = sorted((word, kind), key=len)
    if len(shorter) == len(longer):
        return any(_swapped(word, at) == kind for at in range(len(word) - 1))
    return any(longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer)))


def _swapped(word: str, at: int) -> str:
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _has_hook(context_type: type, kind: str) -> bool:
    return any(point.method is not None or point.handlers for point in hook_points_of(context_type, (kind,)))


_FIRST_LETTERS = {letter for kind in KINDS for letter in (kind[0], kind[0].upper())}


# ---- shutdown of the interpreter: finalizers run overdubbed code while CPython destroys modules
#
# After the `atexit` functions, CPython removes all modules from `sys.modules`. Then it resets `builtins`, and empties
# the modules to which something still refers, cassette_import's among them. Finalizers run during all these steps.
# Therefore:
#
# - When modules are removed, all contexts become inactive.
# - CPython finds copies of cassette_import's modules in `sys.modules`, and empties the copies.
#
# What runs after the last step must not use globals of its module, which may be gone.


def prepare() -> None:
    """Put copies of cassette_import's modules into `sys.modules`.

    The copy of this module holds an object whose finalizer runs when CPython removes the modules.
    """
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == _PACKAGE and isinstance(module, ModuleType):
            copy = ModuleType(name)
            vars(copy).update(vars(module))
            if name == __name__:
                finalizer = _ModulesRemoved()
                vars(copy)[symbols.of_object(id(finalizer))] = finalizer
            sys.modules[name] = copy


class _ModulesRemoved:
    """Its finalizer runs when CPython removes the modules from `sys.modules`."""

    @hidden
    def __del__(self) -> None:
        for activation in IN_USE.values():
            activation.variant = activation.family = None
        ACTIVE.set(INACTIVE)
        registry.is_over = True
        FLAGS[IS_ANY_ACTIVE] = False


# ---- quick entries: `with ctx:` in C, if the accelerator of dispatch is there


def enter_in_c(context_type: type) -> None:
    """Have the instances of a context type entered and left in C, where that is possible: usually they are ready."""
    if DISPATCH.reason:
        return
    types = ReadyActivation, TypeDefaults, Family
    in_use = IN_USE.entered, IN_USE.held, WAITING
    prepared = POST_IMPORT, vars(sys), registry
    for name, is_entry in (("__enter__", True), ("__exit__", False)):
        method = vars(context_type)[name]
        setattr(context_type, name, DISPATCH.EntryMethod(method, is_entry, types, in_use, prepared, IS_ANY_ACTIVE))


# ---- `Context`: what hooks, overloads and passes belong to, and what is entered to make them active

if TYPE_CHECKING:
    from cassette_import.runtime import driven_generators
    from cassette_import.runtime.followed_bodies import FollowedBody
    from cassette_import.specialization.passes import validation

    decorated_functions: Any  # a module above this one
else:
    (decorated_functions,) = late("cassette_import.activation", "decorated_functions")
    (driven_generators,) = late("cassette_import.runtime", "driven_generators")
    (validation,) = late("cassette_import.specialization.passes", "validation")

Self = TypeVar("Self", bound="Context")
_frame: Final = sys._getframe


def check_call(verb: str, context: Any, f: Any) -> None:
    """Raise a TypeError if a verb was called with something else than a context and a callable."""
    if not isinstance(context, Context):
        raise TypeError(f"{verb}(ctx, f, ...): ctx must be an instance of a Context, not {context!r}")
    if not callable(f):
        raise TypeError(f"{verb}(ctx, f, ...): f must be callable, not {f!r}")


def _unknown_keyword(cls: type, name: str) -> str:
    """The message about a keyword in ``class Ctx(Context, keyword=…)`` that no class takes."""
    from cassette_import.interpreter.suggestions import suggestion  # only messages need it

    known = "events", "inherit", "tagging"
    problem = f"{cls.__qualname__} got an unexpected keyword argument {name!r}"
    return f"{problem}; a context type takes {', '.join(known)}{suggestion(name, known)}"


@hidden
def recurse(ctx: Context, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Run the overdubbed body of `f` in `ctx`, skipping the overload of `f` for this one call.

    It is also the default overload: a context type that defines none inherits it.

    Parameters
    ----------
    ctx:
        The context; it is active while `f` runs, in this thread and task.
    f, args, kwargs:
        The call.

    Returns
    -------
    What the call returns. If `f` has no overdubbed body, it is called as by `fallback`.

    Raises
    ------
    TypeError
        If `ctx` is no context, or `f` is not callable.

    >>> import math
    >>> from cassette_import import overdub
    >>> class Doubled(Context): ...
    >>> @Doubled.overdub.register(math.sqrt)
    ... def _(ctx, f, x):
    ...     return 2 * recurse(ctx, f, x)
    >>> overdub(Doubled(), math.sqrt, 9.0)
    6.0
    """
    check_call("recurse", ctx, f)
    if ctx.report_escapes and (watch := watch_to_enter(ctx)) is not None:
        with watch:
            watch.root_runs(f)
            return recurse(ctx, f, *args, **kwargs)
    root = python_function(f)
    here = ACTIVE.get()
    left = here.suspended
    if (
        left is not None
        and not here.contexts
        and left.contexts[0] is ctx
        and not left.tags
        and left in IN_USE.entered
        and (root is None or root.__code__.co_filename in left.roots or registry.add_root(root) is None)
    ):
        # An overload of the outermost context goes on: what was active when it was called is active again.
        if root is not None and left.variant is not None:
            registry.ensure_instrumented(root, left.variant, left.roots)
        token = ACTIVE.set(left)
        try:
            if id(f) in HIGHER_ORDER.by_id and left.variant is not None:
                call = left.variant.runners[int(Events.CALLS)].call
                result = call(left, 0, f, f, (), args, kwargs)  # the functions that it gets are events
            else:
                result = f(*args, **kwargs)
        finally:
            ACTIVE.reset(token)
        return result if type(result) not in driven_generators.SUSPENDABLE else driven_in(left, result)
    # Inside an overload, the contexts further out still have to get the call.
    if here.suspended is not None:
        activation = activation_of(ctx, registry.add_root(root) if root is not None else None)
        return run_root(activation, root, f, args, kwargs, len(here.contexts))
    activation = activation_of_root(ctx, root, f, args, kwargs)
    result = run_root(activation, root, f, args, kwargs)
    return result if root is not None else result_in_c(activation, result, args)


class Context:
    """The base of context types. Hooks, overloads and passes of a subclass say what events mean while it is active.

    Class arguments: ``events`` are the kinds of syntax that are events (`Events.CALLS | Events.OPERATORS`). With
    ``inherit=True``, threads, executors' jobs and asyncio tasks inherit the context if they are started in it. With
    ``tagging=True``, values can carry metadata of the context (see `tag`).

    A context type with ``leaf_hooks = True`` declares that its hooks never reach overdubbed code, because they use only
    their own data and C functions. The hooks are then not suspended, which saves about a microsecond each.

    Parameters
    ----------
    metadata:
        Any value; hooks may be chosen by its type (``ctx: Ctx[int]``).
    passes:
        Callables that rewrite function bodies before calls are rewritten; see `cassette_import.specialization.passes`.
        May also be a class attribute.
    report_escapes:
        Whether to count the Python functions that run as leaves; `escapes(ctx)` returns them. May also be a class
        attribute.

    Raises
    ------
    TypeError
        If a pass is not callable.

    >>> import math
    >>> from cassette_import import overdub
    >>> class SinToCos(Context): ...
    >>> @SinToCos.overdub.register(math.sin)
    ... def _(ctx, f, x):
    ...     return math.cos(x)
    >>> overdub(SinToCos(), math.sin, 0.0)
    1.0
    """

    events: ClassVar[Events] = Events.DEFAULT
    inherit: ClassVar[bool] = False
    leaf_hooks: ClassVar[bool] = False
    follows_bodies: ClassVar[bool] = False  # whether `follow_body` is called for bodies of generators and coroutines
    follow_expression: Callable[[CodeType, Any, bool], Iterator[FollowedBody]] | None = None
    """What begins generator expressions in place of `follow_body`, for contexts that have it in C: it takes the code,
    what the first loop takes items from, and whether this is asynchronous. The result's first step begins the body."""
    as_started: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    """What makes another callable of what runs in a thread or job that is started while the context is active."""
    met_calls: bool | None = None  # whether the block has met what it is there for; None if functions are enough
    follows_roots: ClassVar[bool] = False  # whether `root_begins` and `root_ended` are called for calls of verbs
    names_earlier_holders: ClassVar[bool] = False  # whether a warning names objects that hold targets since before
    lost: ClassVar[str] = "report"
    recognised_types: ClassVar[tuple[type, ...]] = ()
    """Types of values that keep their metadata wherever they are stored: no two places of a program share an object of
    them by chance, and the program tags no constants of them."""
    passes: Sequence[Any] = ()
    module_level: bool = True
    """Whether the module level of an import is overdubbed. If not, the import is one event for the context: a call of
    an object that is named ``import NAME``. An instance may have a value of its own."""
    report_escapes: bool = False
    metadata: Any = None
    prehook: ClassVar[Any]
    posthook: ClassVar[Any]
    errorhook: ClassVar[Any]
    overdub: ClassVar[Any]
    _hooks_enabled = True
    _entered_modules: ClassVar[tuple[str, ...]] = ()  # modules that are overdubbed as the module of a root function is
    _adopts: ClassVar[bool] = True  # whether a `with` block has the module around it overdubbed
    _is_changed = False  # whether `disablehooks` or `enabletagging` made this instance differ from its type
    _type_defaults: ClassVar[TypeDefaults | None] = None
    _copy_of: Context | None = None
    _tagging = False
    _tags: dict[int, Any] | None = None

    def __init__(self, metadata: Any = None, *, passes: Sequence[Any] = (), report_escapes: bool | None = None) -> None:
        self.metadata = metadata
        if report_escapes is not None:
            self.report_escapes = report_escapes
        if passes != ():
            self.passes = validation.checked_passes("passes", passes)

    def __init_subclass__(
        cls,
        *,
        events: Events | None = None,
        inherit: bool | None = None,
        tagging: bool | None = None,
        **keywords: Any,
    ) -> None:
        if keywords and isinstance(super().__init_subclass__, types.BuiltinMethodType):  # no other class takes them
            raise TypeError(_unknown_keyword(cls, next(iter(keywords))))
        super().__init_subclass__(**keywords)
        if events is not None:
            cls.events = events
        if inherit is not None:
            cls.inherit = inherit
        if tagging is not None:
            if not isinstance(tagging, bool):
                raise TypeError(f"tagging must be True or False, not {tagging!r}")
            cls._tagging = tagging
        cls._type_defaults = None
        if "passes" in cls.__dict__:
            cls.passes = validation.checked_passes(f"{cls.__qualname__}.passes", cls.__dict__["passes"])
        if not isinstance(cls.events, Events):
            raise TypeError(f"{cls.__qualname__}.events must be a combination of Events, not {cls.events!r}")
        if cls.lost not in _LOST:
            raise TypeError(f"{cls.__qualname__}.lost must be one of {', '.join(_LOST)}, not {cls.lost!r}")
        if not isinstance(cls.inherit, bool):
            raise TypeError(f"{cls.__qualname__}.inherit must be True or False, not {cls.inherit!r}")
        if not isinstance(cls.module_level, bool):
            raise TypeError(f"{cls.__qualname__}.module_level must be True or False, not {cls.module_level!r}")
        add_hook_points(cls, recurse)
        warn_of_misspelled_hooks(cls)

    def __class_getitem__(cls, metadata_type: Any) -> types.GenericAlias:
        """``Ctx[M]`` in the annotation of a hook: contexts whose metadata is an ``M``."""
        return types.GenericAlias(cls, (metadata_type,))

    def __call__(self, function: Callable[..., Any]) -> Any:
        """Decorator: each call of the function is overdubbed in the context.

        Returns
        -------
        A function of the same kind: a generator or coroutine function for one.
        """
        return decorated_functions.decorated_function(self, function)

    def _of_one_call(self) -> Context:
        """The context in which one call of a decorated function runs: this one."""
        return self

    def _call_ended(self, *, failed: bool) -> None:
        """Called when a call of a decorated function has ended."""

    def follow_body(self, code: CodeType) -> FollowedBody:
        """Called when the body of a generator, coroutine or generator expression begins, if `follows_bodies`.

        Parameters
        ----------
        code:
            The code of the body; it has the file, the line and the name of the function.

        Returns
        -------
        The object to which the steps of this run of the body are reported.
        """
        raise NotImplementedError

    def follow_call(self, code: CodeType) -> FollowedBody | None:
        """Called when a function begins that may have been entered without a call event, if `follows_bodies`.

        Returns
        -------
        As `follow_body`; None if there was a call event of the function.
        """
        raise NotImplementedError

    def root_begins(self, function: Any) -> None:
        """Called before a verb runs a function in the context, if `follows_roots`."""
        raise NotImplementedError

    def root_ended(self, function: Any) -> None:
        """Called when a verb has run a function in the context, also if it raised, if `follows_roots`."""
        raise NotImplementedError

    def _variant_key(self) -> VariantKey:
        """What decides how functions are specialised for this context."""
        defaults, is_unchanged = self._type_defaults, not self._is_changed
        # Usually the instance has no events or passes of its own, and its type is as it was when the key was made.
        if defaults is not None and self.events is defaults.events and self.passes is defaults.passes and is_unchanged:
            return defaults.key
        add_assigned_methods(type(self), Context, recurse)
        own: object = self.events
        events = own if isinstance(own, Events) else type(self).events  # a program may well write `self.events = []`
        key = VariantKey.of(type(self), events, self._hooks_enabled, self.passes, self._tagging)
        if is_unchanged:
            type(self)._type_defaults = TypeDefaults(self.events, self.passes, key)
        return key

    def _variant_alone(self) -> StackVariant:
        """The variant of a stack with this context alone."""
        return variants.of((self._variant_key(),))

    def __enter__(self: Self) -> Self:
        defaults, caller = self._type_defaults, _frame(1)
        if (
            ACTIVE.get() is not INACTIVE
            or defaults is None
            or (
                ((known := defaults.latest)[0] is not caller.f_code or known[1] is not None)
                and (known := defaults.known(caller.f_code, None, INACTIVE.roots)) is None
            )
            or self.events is not defaults.events
            or self.passes is not defaults.passes
            or self._is_changed
            or self.report_escapes
            or (WAITING and (not sys.meta_path or sys.meta_path[0] is not POST_IMPORT))
        ):
            self._enter(caller)
            return self
        # What `entering.enter` does for any activation, without a frame for each step.
        made = ReadyActivation()
        made.contexts = (self,)
        made.entered = self
        made.outer = INACTIVE
        made.roots = roots = known[3]
        made.tags = ()
        made.left = False
        made.inherited = made.hook_activations = made.successor = made.suspended = made.token = None
        made.variant = variant = known[4]
        made.family = family = known[5]
        try:
            family.active += 1
            IN_USE.entered[made] = None
            FLAGS[IS_ANY_ACTIVE] = True
            is_current = not variant.is_superseded and known[6].get(roots) == registry.generation
        except BaseException:
            made.end()
            raise
        if not is_current:
            made.end()
            defaults.forget_entries()
            self._enter(caller)
            return self
        made.token = ACTIVE.set(made)
        return self

    def _is_adopting(self, here: Activation) -> bool:
        """Whether a block that enters the context in an activation adopts a module.

        Hooks adopt none. Neither do blocks of contexts that tag values: the code of the block, which is not overdubbed,
        would get the results of overdubbed functions without their metadata.
        """
        return self._adopts and not (self._tagging or here.tags or here.suspended is not None)

    def _enter(self, caller: FrameType) -> None:
        """Enter, whatever is active here and whatever differs from the type; `caller` has called `__enter__`."""
        watch = watch_to_enter(self) if self.report_escapes else None
        if watch is not None:
            watch.__enter__()
        try:
            entering = entering_frame(caller) if self._is_adopting(ACTIVE.get()) else None
            adopted = adopted_file(entering)
            activation = activation_of(self, adopted)
            if is_making := adopted is not None and entering is not None and makes_functions(entering.f_code):
                instrument_functions_of(entering, adopted)
            enter(activation)
        except BaseException:
            if watch is not None:
                watch.__exit__(None, None, None)
            raise
        defaults = self._type_defaults
        if defaults is not None and entering is caller and not (is_making or self._tagging or self._is_changed):
            defaults.note_entry(caller.f_code, activation)

    def __exit__(self, *exception: object) -> None:
        here = ACTIVE.get()
        if here.entered is self and not here.left:
            family = here.family
            leave(here)
            has_returned = exception[:1] == (None,)
            is_new = family is not None and not (family.is_met or family.is_silent)
            is_new |= self.met_calls is False
            if family is not None and is_new and has_returned and self._is_adopting(ACTIVE.get()):
                warn_if_nothing_was_met(self, family, _frame(1))
            if type(here) is ReadyActivation:  # the usual case: it reports no escapes
                return
        else:
            exit_context(self)
        if self.report_escapes:
            for reporter in ESCAPE_REPORTERS:
                if (watch := reporter.watch_to_leave(self)) is not None:
                    watch.__exit__(*exception)


_LOST: Final = ("ignore", "report", "error")


add_hook_points(Context, recurse)
enter_in_c(Context)


bindings.provide()
MODULE_IMPORTS.connect(execute, is_one_event)
EXEMPT_MANAGERS.add(Context)
HOOK_FUNCTIONS.listeners.append(hook_copies.instrument_copy)


def current() -> Context | None:
    """The innermost context that is active in this thread and task; None if there is none.

    >>> current() is None
    True
    """
    contexts = active_here().contexts
    return contexts[-1] if contexts else None


WRAPPER_AWARE.update(map(id, (recurse, current)))
atexit.register(prepare)
