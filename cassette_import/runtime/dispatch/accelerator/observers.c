/* Observers, which are tracers, profilers and tools of `sys.monitoring`: own work that they do not notice, and
   filters for what hidden frames would cause in 3.11 and 3.12. From 3.13 on, a flag of hidden code says that there
   are no such events.

   3.11 notifies tracers in C of the returns of hidden frames, and profilers of their calls. 3.12 notifies tools of
   the exceptions in them, and tracers and profilers through its own tools. So observers with a stack lose their
   place. */

#include "dispatch.h"

#if PY_VERSION_HEX >= 0x030C0000 && PY_VERSION_HEX < 0x030D0000
#undef _PyGC_FINALIZED /* the internal headers have it as a function */
#define Py_BUILD_CORE
#include "internal/pycore_interp.h"
#undef Py_BUILD_CORE
#endif

/* unobserved(work, *arguments) */
PyObject *
unobserved(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (count < 1) {
        PyErr_SetString(PyExc_TypeError, "unobserved(work, *arguments)");
        return NULL;
    }
    PyThreadState *thread = PyThreadState_Get();
    PyThreadState_EnterTracing(thread);
    PyObject *result = PyObject_Vectorcall(arguments[0], arguments + 1, count - 1, NULL);
    PyThreadState_LeaveTracing(thread);
    if (filter_observers() < 0) {
        Py_CLEAR(result);
    }
    return result;
}

#if PY_VERSION_HEX < 0x030D0000
static int
is_hidden(PyCodeObject *code)
{
    return code->_co_firsttraceable >= Py_SIZE(code); /* it has no `RESUME` */
}
#endif

#if PY_VERSION_HEX < 0x030C0000

#define FILTERS 4 /* that many functions in C observe threads of one process: those of `sys`, of cProfile, of coverage.py */

static Py_tracefunc filtered[FILTERS];

static int
filter(int number, PyObject *observer, PyFrameObject *frame, int what, PyObject *argument)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    int is_silent = is_hidden(code);
    Py_DECREF(code);
    return is_silent ? 0 : filtered[number](observer, frame, what, argument);
}

#define FILTER(number)                                                                                                 \
    static int filter_##number(PyObject *observer, PyFrameObject *frame, int what, PyObject *argument)                 \
    {                                                                                                                  \
        return filter(number, observer, frame, what, argument);                                                        \
    }
FILTER(0)
FILTER(1)
FILTER(2)
FILTER(3)

static const Py_tracefunc filters[FILTERS] = {filter_0, filter_1, filter_2, filter_3};

/* The filter of a function that observes a thread; the function itself if it is one, or if there are too many. */
static Py_tracefunc
filter_of(Py_tracefunc function)
{
    for (int number = 0; number < FILTERS; number++) {
        if (function == filters[number]) {
            break;
        }
        if (filtered[number] == NULL || filtered[number] == function) {
            filtered[number] = function;
            return filters[number];
        }
    }
    return function;
}

/* To be called where hidden frames are going to return, in each thread. */
int
filter_observers(void)
{
    PyThreadState *thread = PyThreadState_Get();
    if (thread->c_tracefunc != NULL) {
        thread->c_tracefunc = filter_of(thread->c_tracefunc);
    }
    if (thread->c_profilefunc != NULL) {
        thread->c_profilefunc = filter_of(thread->c_profilefunc);
    }
    return 0;
}

#elif PY_VERSION_HEX < 0x030D0000

/* What a tool has registered is `self`. */
static PyObject *
filter(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count > 0 && PyCode_Check(arguments[0]) && is_hidden((PyCodeObject *)arguments[0])) {
        Py_RETURN_NONE;
    }
    return PyObject_Vectorcall(self, arguments, count, NULL);
}

static PyMethodDef filter_definition = {"filter", (PyCFunction)(void (*)(void))filter, METH_FASTCALL, NULL};

static const int filtered_events[] = {
    PY_MONITORING_EVENT_RAISE,
    PY_MONITORING_EVENT_RERAISE,
    PY_MONITORING_EVENT_EXCEPTION_HANDLED,
    PY_MONITORING_EVENT_PY_UNWIND,
};

/* To be called where exceptions may leave hidden frames. The structure is that of one version, bug fixes included. */
int
filter_observers(void)
{
    if (Py_Version != PY_VERSION_HEX) {
        return 0;
    }
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    for (int tool = 0; tool < PY_MONITORING_TOOL_IDS; tool++) {
        for (size_t number = 0; number < Py_ARRAY_LENGTH(filtered_events); number++) {
            PyObject **place = &interpreter->monitoring_callables[tool][filtered_events[number]];
            if (*place == NULL || (PyCFunction_CheckExact(*place) && PyCFunction_GET_FUNCTION(*place) ==
                                                                         filter_definition.ml_meth)) {
                continue;
            }
            PyObject *made = PyCFunction_New(&filter_definition, *place);
            if (made == NULL) {
                return -1;
            }
            Py_SETREF(*place, made);
        }
    }
    return 0;
}
#else
int
filter_observers(void)
{
    return 0;
}
#endif
