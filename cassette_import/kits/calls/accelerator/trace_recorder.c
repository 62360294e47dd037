/* TraceRecorder: the hooks of a trace without filters. `begin_call` and `end_call` do what `Trace.prehook` and
   `Trace.posthook` do.

   They keep the stacks of the calls in progress, and count the calls that are not shown. The usual calls are shown
   here if the trace is a tree in a file; the context shows all others. */

#include "call_stack.h"
#include "text.h"

/* ---- the recorder */

typedef struct {
    PyObject_HEAD
    State *state;
    PyObject *find_stack; /* returns the stack of the running thread; with a true argument, it makes one if needed */
    PyObject *show_call;  /* pushes a call on a stack, and shows it */
    PyObject *show_end;   /* shows the result or exception of a call that was shown */
    PyObject *reach_limit; /* notes that the limit is reached */
    Formatter *formatter; /* shows the usual calls, */
    TreeLines *lines;     /* here; NULL: the context shows all calls */
    PyObject *left_type;  /* the type of callees whose calls the context shows */
    CallStack *stack;     /* the stack that was used last, and the state of its thread */
    uint64_t thread;      /* is never used again, as opposed to the identifier of a thread */
    Py_ssize_t depth, deepest, deeper, left_out, shown, limit; /* see `Trace` */
} TraceRecorder;

/* The stack of the running thread, with a reference. NULL without an exception: it has none, and `makes` is 0. */
static CallStack *
stack_here(TraceRecorder *self, int makes)
{
    uint64_t thread = PyThreadState_GetID(PyThreadState_Get());
    if (self->stack != NULL && self->thread == thread) {
        return (CallStack *)Py_NewRef(self->stack);
    }
    PyObject *found = PyObject_CallOneArg(self->find_stack, makes ? Py_True : Py_False);
    if (found == Py_None && !makes) {
        Py_CLEAR(found);
        return NULL;
    }
    if (found != NULL && Py_TYPE(found) != self->state->call_stack_type) {
        PyErr_SetString(PyExc_TypeError, "the stack of a thread must be a CallStack");
        Py_CLEAR(found);
    }
    if (found != NULL) {
        CallStack *old = self->stack;
        self->stack = (CallStack *)Py_NewRef(found);
        self->thread = thread;
        Py_XDECREF(old);
    }
    return (CallStack *)found;
}

/* Whether what the context has returned is no exception. The program expects no frames of hooks in a traceback. */
static int
is_done(PyObject *returned)
{
    if (returned == NULL && PyErr_ExceptionMatches(PyExc_RecursionError)) {
        leave_out_frames();
    }
    Py_XDECREF(returned);
    return returned != NULL;
}

#define MOST_ARGUMENTS 50

/* Add the name and the arguments of a call. Returns -1 with an exception. */
static int
add_call(Formatter *formatter, Text *text, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    if (add_function(formatter, text, arguments[0]) < 0 || ADD(text, "(") < 0) {
        return -1;
    }
    for (Py_ssize_t number = 1; number < count + named; number++) {
        if (number > 1 && ADD(text, ", ") < 0) {
            return -1;
        }
        if (number >= count &&
            (add_string(text, PyTuple_GET_ITEM(names, number - count)) < 0 || ADD(text, "=") < 0)) {
            return -1;
        }
        if (add_value(formatter, text, arguments[number]) < 0) {
            return -1;
        }
    }
    return ADD(text, ")");
}

/* Whether a call is one of the usual ones. */
static int
is_shown_here(TraceRecorder *self, PyObject *function, Py_ssize_t count, PyObject *names)
{
    for (Py_ssize_t number = 0; names != NULL && number < PyTuple_GET_SIZE(names); number++) {
        if (!is_printable_ascii(PyTuple_GET_ITEM(names, number))) {
            return 0;
        }
    }
    return self->lines != NULL && count <= MOST_ARGUMENTS + 1 &&
           (names == NULL || PyTuple_GET_SIZE(names) <= MOST_ARGUMENTS) &&
           (PyObject *)Py_TYPE(function) != self->left_type;
}

/* Show a call that begins. Returns whether there is no exception. */
static int
show_call(TraceRecorder *self, CallStack *stack, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    Py_ssize_t level = stack->level;
    TreeLines *lines = (TreeLines *)Py_NewRef(self->lines);
    Formatter *formatter = (Formatter *)Py_NewRef(self->formatter);
    Text text;
    begin_text(&text);
    int is_shown = push_call(stack, arguments[0], 0) == 0 &&
                   add_call(formatter, &text, arguments, count, names) == 0 &&
                   begin_line(lines, stack->thread, level, &text) == 0;
    end_text(&text);
    Py_DECREF(lines);
    Py_DECREF(formatter);
    return is_shown || is_done(NULL);
}

/* Show the result of a call. Returns whether there is no exception. */
static int
show_result(TraceRecorder *self, CallStack *stack, Py_ssize_t level, PyObject *value)
{
    TreeLines *lines = (TreeLines *)Py_NewRef(self->lines);
    Formatter *formatter = (Formatter *)Py_NewRef(self->formatter);
    Text text;
    begin_text(&text);
    int is_shown = ADD(&text, "-> ") == 0 && add_value(formatter, &text, value) == 0 &&
                   end_line(lines, stack->thread, level, &text) == 0;
    end_text(&text);
    Py_DECREF(lines);
    Py_DECREF(formatter);
    return is_shown || is_done(NULL);
}

/* Note that a call begins. Returns whether there is no exception. */
static int
begin(TraceRecorder *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    CallStack *stack = stack_here(self, 1);
    if (stack == NULL) {
        return is_done(NULL);
    }
    int is_begun;
    if (stack->level >= self->depth || self->shown >= self->limit) {
        if (stack->level >= self->deepest) {
            self->deeper++;
        }
        else {
            self->left_out++;
        }
        is_begun = push_call(stack, arguments[0], NOT_SHOWN) == 0;
    }
    else {
        /* Another thread may run while the call is shown. */
        Py_ssize_t number = ++self->shown;
        if (is_shown_here(self, arguments[0], count, names)) {
            is_begun = show_call(self, stack, arguments, count, names);
        }
        else {
            PyObject *positional = tuple_of(&arguments[1], count - 1), *keywords = dict_of(&arguments[count], names);
            is_begun = is_done(positional == NULL || keywords == NULL ? NULL : PyObject_CallFunctionObjArgs(
                self->show_call, (PyObject *)stack, arguments[0], positional, keywords, NULL));
            Py_XDECREF(positional);
            Py_XDECREF(keywords);
        }
        if (is_begun && number == self->limit) {
            is_begun = is_done(PyObject_CallNoArgs(self->reach_limit));
        }
    }
    Py_DECREF(stack);
    return is_begun;
}

/* Note that the innermost call of a function ends. Returns whether there is no exception. */
static int
end(TraceRecorder *self, PyObject *function, PyObject *kind, PyObject *value)
{
    CallStack *stack = stack_here(self, 0);
    if (stack == NULL) {
        return !PyErr_Occurred() || is_done(NULL);
    }
    Py_ssize_t place = stack->count - 1;
    while (place >= 0 && stack->calls[place].function != function) {
        place--; /* an interrupt inside a hook separated a pair of hooks */
    }
    int is_ended = 1;
    if (place >= 0) {
        Call call = stack->calls[place];
        stack->level = call.level;
        cut_calls(stack, place);
        if (call.is_secret == 0 && self->lines != NULL && kind == self->state->result) {
            is_ended = show_result(self, stack, call.level, value);
        }
        else if (call.is_secret != NOT_SHOWN) {
            PyObject *level = PyLong_FromSsize_t(call.level);
            is_ended = is_done(level == NULL ? NULL : PyObject_CallFunctionObjArgs(
                self->show_end, stack->thread, level, function, kind, value, call.is_secret ? Py_True : Py_False,
                NULL));
            Py_XDECREF(level);
        }
    }
    Py_DECREF(stack);
    return is_ended;
}

/* ---- the hooks */

/* The recorder of a context, with a reference. */
static TraceRecorder *
recorder_of(State *state, PyObject *context)
{
    PyObject *recorder = PyObject_GetAttr(context, state->recorder);
    if (recorder != NULL && Py_TYPE(recorder) != state->trace_recorder_type) {
        PyErr_SetString(PyExc_TypeError, "the recorder of the context must be a TraceRecorder");
        Py_CLEAR(recorder);
    }
    return (TraceRecorder *)recorder;
}

PyObject *
begin_call(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    if (count < 2) {
        PyErr_SetString(PyExc_TypeError, "begin_call() takes the context and the function");
        return NULL;
    }
    TraceRecorder *recorder = recorder_of(PyModule_GetState(module), arguments[0]);
    int is_begun = recorder != NULL && begin(recorder, &arguments[1], count - 1, names);
    Py_XDECREF(recorder);
    return is_begun ? Py_NewRef(Py_None) : NULL;
}

PyObject *
end_call_of_trace(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *Py_UNUSED(names))
{
    if (count < 3) {
        PyErr_SetString(PyExc_TypeError, "end_call() takes the context, the result and the function");
        return NULL;
    }
    State *state = PyModule_GetState(module);
    TraceRecorder *recorder = recorder_of(state, arguments[0]);
    int is_ended = recorder != NULL && end(recorder, arguments[2], state->result, arguments[1]);
    Py_XDECREF(recorder);
    return is_ended ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
recorder_end(TraceRecorder *self, PyObject *arguments)
{
    PyObject *function, *kind, *value;
    if (!PyArg_ParseTuple(arguments, "OUO:end", &function, &kind, &value) || !end(self, function, kind, value)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Show the usual calls here from now on. */
static PyObject *
recorder_show_with(TraceRecorder *self, PyObject *arguments)
{
    PyObject *formatter, *lines, *left_type;
    if (!PyArg_ParseTuple(arguments, "O!O!O:show_with", self->state->formatter_type, &formatter,
                          self->state->tree_lines_type, &lines, &left_type)) {
        return NULL;
    }
    Py_XSETREF(self->formatter, (Formatter *)Py_NewRef(formatter));
    Py_XSETREF(self->left_type, Py_NewRef(left_type));
    Py_XSETREF(self->lines, (TreeLines *)Py_NewRef(lines));
    Py_RETURN_NONE;
}

static PyObject *
recorder_show_in_python(TraceRecorder *self, PyObject *Py_UNUSED(nothing))
{
    Py_CLEAR(self->lines);
    Py_CLEAR(self->formatter);
    Py_RETURN_NONE;
}

/* ---- the type */

static PyObject *
recorder_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *find_stack, *show_call, *show_end, *reach_limit;
    State *state = PyType_GetModuleState(type);
    if (state == NULL || !PyArg_ParseTuple(arguments, "OOOO:TraceRecorder", &find_stack, &show_call, &show_end,
                                           &reach_limit)) {
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    TraceRecorder *self = (TraceRecorder *)allocate(type, 0);
    if (self != NULL) {
        self->state = state;
        self->find_stack = Py_NewRef(find_stack);
        self->show_call = Py_NewRef(show_call);
        self->show_end = Py_NewRef(show_end);
        self->reach_limit = Py_NewRef(reach_limit);
    }
    return (PyObject *)self;
}

static int
recorder_traverse(TraceRecorder *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->find_stack);
    Py_VISIT(self->show_call);
    Py_VISIT(self->show_end);
    Py_VISIT(self->reach_limit);
    Py_VISIT(self->formatter);
    Py_VISIT(self->lines);
    Py_VISIT(self->left_type);
    Py_VISIT(self->stack);
    return 0;
}

/* The objects that the hooks use stay until the recorder is gone. */
static int
recorder_clear(TraceRecorder *self)
{
    Py_CLEAR(self->stack);
    return 0;
}

static void
recorder_dealloc(TraceRecorder *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    recorder_clear(self);
    Py_CLEAR(self->find_stack);
    Py_CLEAR(self->show_call);
    Py_CLEAR(self->show_end);
    Py_CLEAR(self->reach_limit);
    Py_CLEAR(self->formatter);
    Py_CLEAR(self->lines);
    Py_CLEAR(self->left_type);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef recorder_methods[] = {
    {"end", (PyCFunction)recorder_end, METH_VARARGS, NULL},
    {"show_with", (PyCFunction)recorder_show_with, METH_VARARGS, NULL},
    {"show_in_python", (PyCFunction)recorder_show_in_python, METH_NOARGS, NULL},
    {NULL},
};

static PyMemberDef recorder_members[] = {
    {"depth", T_PYSSIZET, offsetof(TraceRecorder, depth)},
    {"deepest", T_PYSSIZET, offsetof(TraceRecorder, deepest)},
    {"deeper", T_PYSSIZET, offsetof(TraceRecorder, deeper)},
    {"left_out", T_PYSSIZET, offsetof(TraceRecorder, left_out)},
    {"shown", T_PYSSIZET, offsetof(TraceRecorder, shown)},
    {"limit", T_PYSSIZET, offsetof(TraceRecorder, limit)},
    {NULL},
};

static PyType_Slot recorder_slots[] = {
    {Py_tp_new, recorder_new},
    {Py_tp_dealloc, recorder_dealloc},
    {Py_tp_traverse, recorder_traverse},
    {Py_tp_clear, recorder_clear},
    {Py_tp_methods, recorder_methods},
    {Py_tp_members, recorder_members},
    {0, NULL},
};

PyType_Spec trace_recorder_spec = {
    .name = "cassette_import.kits.calls.accelerator._accelerator.TraceRecorder",
    .basicsize = sizeof(TraceRecorder),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = recorder_slots,
};
