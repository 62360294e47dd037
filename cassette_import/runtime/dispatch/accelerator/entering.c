/* Entering and leaving a context that is ready: the methods `__enter__` and `__exit__` of contexts.

   They do what the methods in Python do, which they call for all that is not usual. */

#include "entering.h"

/* Whether an attribute of an object is this one; -1: an exception. */
static int
attribute_is(PyObject *object, PyObject *name, PyObject *wanted)
{
    PyObject *found = PyObject_GetAttr(object, name);
    Py_XDECREF(found);
    return found == NULL ? -1 : found == wanted;
}

/* Whether an attribute of an object is true; -1: an exception. */
static int
attribute_is_true(PyObject *object, PyObject *name)
{
    PyObject *found = PyObject_GetAttr(object, name);
    int result = found == NULL ? -1 : PyObject_IsTrue(found);
    Py_XDECREF(found);
    return result;
}

/* What a context's type shares, if the context has no events or passes of its own. NULL: it has, or an exception. */
static PyObject *
shared_defaults(EntryMethod *self, PyObject *context)
{
    PyObject *defaults = PyObject_GetAttr(context, self->name.type_defaults);
    if (defaults == NULL) {
        return NULL;
    }
    if (!Py_IS_TYPE(defaults, self->defaults_type) ||
        attribute_is(context, self->name.events, SLOT(defaults, self->of.events)) != 1 ||
        attribute_is(context, self->name.passes, SLOT(defaults, self->of.passes)) != 1 ||
        attribute_is_true(context, self->name.is_changed) != 0) {
        Py_CLEAR(defaults);
    }
    return defaults;
}

/* Whether the contexts that are active have the keys of the variant that is active; -1: an exception. */
static int
have_keys(EntryMethod *self, PyObject *contexts, PyObject *variant)
{
    Py_ssize_t count = PyTuple_GET_SIZE(contexts);
    if (count == 0) {
        return 1;
    }
    PyObject *keys = PyObject_GetAttr(variant, self->name.keys);
    if (keys == NULL) {
        return -1;
    }
    int result = PyTuple_CheckExact(keys) && PyTuple_GET_SIZE(keys) == count;
    for (Py_ssize_t number = 0; result && number < count; number++) {
        PyObject *defaults = shared_defaults(self, PyTuple_GET_ITEM(contexts, number));
        result = defaults != NULL && SLOT(defaults, self->of.key) == PyTuple_GET_ITEM(keys, number);
        Py_XDECREF(defaults);
    }
    Py_DECREF(keys);
    return PyErr_Occurred() ? -1 : result;
}

/* Whether functions that start threads, jobs and tasks have to be prepared first. */
static int
is_preparation_due(EntryMethod *self)
{
    if (PyDict_GET_SIZE(self->waiting) == 0) {
        return 0;
    }
    PyObject *path = PyDict_GetItemWithError(self->system, self->name.meta_path);
    return path == NULL || !PyList_CheckExact(path) || PyList_GET_SIZE(path) == 0 ||
           PyList_GET_ITEM(path, 0) != self->first_finder;
}

/* What an entry by the running code makes active here; NULL: it is not known, or an exception. */
static PyObject *
known_entry(EntryMethod *self, PyObject *defaults, PyObject *here)
{
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    if (frame == NULL) {
        return NULL;
    }
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    PyObject *variant = SLOT(here, self->of.variant), *roots = SLOT(here, self->of.roots);
    PyObject *entry = Py_XNewRef(SLOT(defaults, self->of.latest));
    if (entry == NULL || PyTuple_GET_ITEM(entry, 0) != code || PyTuple_GET_ITEM(entry, 1) != variant ||
        PyTuple_GET_ITEM(entry, 2) != roots) {
        Py_XDECREF(entry);
        entry = PyObject_CallMethodObjArgs(defaults, self->name.known, code, variant, roots, NULL);
        if (entry == Py_None) {
            Py_CLEAR(entry);
        }
    }
    Py_DECREF(code);
    return entry;
}

/* Count one activation more or less of a family. */
static int
count_active(EntryMethod *self, PyObject *family, long change)
{
    PyObject **active = &SLOT(family, self->of.active);
    long count = *active == NULL ? -1 : PyLong_AsLong(*active);
    PyObject *changed = count == -1 && PyErr_Occurred() ? NULL : PyLong_FromLong(count + change);
    if (changed == NULL) {
        return -1;
    }
    Py_SETREF(*active, changed);
    return 0;
}

/* Whether every function is instrumented for a variant with these roots; -1: an exception. */
static int
is_current(EntryMethod *self, PyObject *variant, PyObject *roots, PyObject *instrumented_at)
{
    int is_superseded = attribute_is_true(variant, self->name.is_superseded);
    if (is_superseded != 0) {
        return is_superseded < 0 ? -1 : 0;
    }
    PyObject *generation = PyObject_GetAttr(self->registry, self->name.generation);
    if (generation == NULL) {
        return -1;
    }
    PyObject *found = PyDict_GetItemWithError(instrumented_at, roots);
    int result = found != NULL ? PyObject_RichCompareBool(found, generation, Py_EQ) : PyErr_Occurred() ? -1 : 0;
    Py_DECREF(generation);
    return result;
}

static PyObject *
contexts_with(PyObject *outer, PyObject *context)
{
    Py_ssize_t count = PyTuple_GET_SIZE(outer);
    PyObject *contexts = PyTuple_New(count + 1);
    if (contexts != NULL) {
        for (Py_ssize_t number = 0; number < count; number++) {
            PyTuple_SET_ITEM(contexts, number, Py_NewRef(PyTuple_GET_ITEM(outer, number)));
        }
        PyTuple_SET_ITEM(contexts, count, Py_NewRef(context));
    }
    return contexts;
}

/* A new activation that is not in use yet; NULL: an exception. */
static PyObject *
new_activation(EntryMethod *self, PyObject *context, PyObject *here, PyObject *entry)
{
    const Offsets *of = &self->of;
    PyObject *contexts = contexts_with(SLOT(here, of->contexts), context);
    PyObject *made = contexts == NULL ? NULL : self->ready_type->tp_alloc(self->ready_type, 0);
    if (made == NULL) {
        Py_XDECREF(contexts);
        return NULL;
    }
    SLOT(made, of->contexts) = contexts;
    SLOT(made, of->roots) = Py_NewRef(PyTuple_GET_ITEM(entry, 3));
    SLOT(made, of->variant) = Py_NewRef(PyTuple_GET_ITEM(entry, 4));
    SLOT(made, of->family) = Py_NewRef(PyTuple_GET_ITEM(entry, 5));
    SLOT(made, of->entered) = Py_NewRef(context);
    SLOT(made, of->outer) = Py_NewRef(here);
    SLOT(made, of->tags) = Py_NewRef(SLOT(here, of->tags));
    SLOT(made, of->left) = Py_NewRef(Py_False);
    SLOT(made, of->hook_activations) = Py_NewRef(Py_None);
    SLOT(made, of->inherited) = Py_NewRef(Py_None);
    SLOT(made, of->successor) = Py_NewRef(Py_None);
    SLOT(made, of->suspended) = Py_NewRef(Py_None);
    SLOT(made, of->token) = Py_NewRef(Py_None);
    return made;
}

/* End an activation that is in use, after an exception if one is set. */
static void
end_activation(EntryMethod *self, PyObject *made)
{
    PyObject *kind, *value, *traceback;
    PyErr_Fetch(&kind, &value, &traceback);
    PyObject *result = PyObject_CallMethodNoArgs(made, self->name.end);
    if (result == NULL) {
        PyErr_WriteUnraisable(made);
    }
    Py_XDECREF(result);
    PyErr_Restore(kind, value, traceback);
}

/* Enter a context as a known entry says. Return 0 if functions have to be instrumented first, -1 with an exception. */
static int
enter_as_known(EntryMethod *self, PyObject *context, PyObject *defaults, PyObject *here, PyObject *entry)
{
    PyObject *roots = PyTuple_GET_ITEM(entry, 3), *variant = PyTuple_GET_ITEM(entry, 4);
    PyObject *made = new_activation(self, context, here, entry);
    if (made == NULL) {
        return -1;
    }
    if (count_active(self, SLOT(made, self->of.family), 1) < 0) {
        Py_DECREF(made);
        return -1;
    }
    int result = -1;
    if (PyDict_SetItem(self->entered, made, Py_None) == 0 &&
        PyDict_SetItem(self->state->flags, self->is_any_active, Py_True) == 0) {
        result = is_current(self, variant, roots, PyTuple_GET_ITEM(entry, 6)); /* once other threads take this activation into account */
    }
    if (result > 0) {
        PyObject *token = PyContextVar_Set(self->state->active, made);
        if (token == NULL) {
            result = -1;
        }
        else if (SLOT(here, self->of.variant) == Py_None) { /* nothing is active: resetting it is quicker than setting */
            Py_SETREF(SLOT(made, self->of.token), token);
        }
        else {
            Py_DECREF(token);
        }
    }
    if (result <= 0) {
        end_activation(self, made);
    }
    if (result == 0) {
        PyObject *forgotten = PyObject_CallMethodNoArgs(defaults, self->name.forget_entries);
        result = forgotten == NULL ? -1 : 0;
        Py_XDECREF(forgotten);
    }
    Py_DECREF(made);
    return result;
}

/* Return 0 if the method in Python has to enter it, -1 with an exception. */
static int
enter_if_ready(EntryMethod *self, PyObject *context)
{
    PyObject *here = active_here(self->state);
    if (here == NULL) {
        return -1;
    }
    int result = 0;
    PyObject *defaults = NULL, *entry = NULL;
    if (SLOT(here, self->of.left) == Py_False && SLOT(here, self->of.suspended) == Py_None &&
        PyTuple_CheckExact(SLOT(here, self->of.tags)) && PyTuple_GET_SIZE(SLOT(here, self->of.tags)) == 0 &&
        PyTuple_CheckExact(SLOT(here, self->of.contexts)) && !is_preparation_due(self)) {
        defaults = shared_defaults(self, context);
    }
    if (defaults != NULL && attribute_is_true(context, self->name.report_escapes) == 0) {
        entry = known_entry(self, defaults, here);
    }
    if (entry != NULL && have_keys(self, SLOT(here, self->of.contexts), SLOT(here, self->of.variant)) > 0) {
        result = enter_as_known(self, context, defaults, here, entry);
    }
    Py_XDECREF(entry);
    Py_XDECREF(defaults);
    Py_DECREF(here);
    return PyErr_Occurred() ? -1 : result;
}

PyObject *
enter_context(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    EntryMethod *self = (EntryMethod *)callable;
    if (filter_observers() < 0) {
        return NULL;
    }
    if (PyVectorcall_NARGS(flagged) == 1 && names == NULL) {
        int is_entered = enter_if_ready(self, arguments[0]);
        if (is_entered != 0) {
            return is_entered < 0 ? NULL : Py_NewRef(arguments[0]);
        }
    }
    return PyObject_Vectorcall(self->slowly, arguments, flagged, names);
}

/* Whether an activation is that of a context, and was left by nothing, suspended by nothing and replaced by nothing; no warning is due. */
static int
is_to_leave(EntryMethod *self, PyObject *here, PyObject *context)
{
    const Offsets *of = &self->of;
    if (!Py_IS_TYPE(here, self->ready_type) || SLOT(here, of->entered) != context ||
        SLOT(here, of->left) != Py_False || SLOT(here, of->successor) != Py_None ||
        SLOT(here, of->hook_activations) != Py_None) {
        return 0;
    }
    PyObject *family = SLOT(here, of->family), *outer = SLOT(here, of->outer);
    return family != Py_None && SLOT(outer, of->left) == Py_False &&
           (SLOT(family, of->is_met) == Py_True || SLOT(family, of->is_silent) == Py_True);
}

/* Make active what was active before; -1: an exception. */
static int
put_back(EntryMethod *self, PyObject *here)
{
    PyObject *token = SLOT(here, self->of.token);
    if (token != Py_None) {
        SLOT(here, self->of.token) = Py_NewRef(Py_None);
        int failed = PyContextVar_Reset(self->state->active, token);
        Py_DECREF(token);
        if (!failed || !PyErr_ExceptionMatches(PyExc_ValueError)) {
            return failed;
        }
        PyErr_Clear(); /* in a copy of the context variables */
    }
    token = PyContextVar_Set(self->state->active, SLOT(here, self->of.outer));
    Py_XDECREF(token);
    return token == NULL ? -1 : 0;
}

static int
leave(EntryMethod *self, PyObject *here)
{
    Py_SETREF(SLOT(here, self->of.left), Py_NewRef(Py_True));
    if (PyDict_DelItem(self->entered, here) < 0) {
        if (!PyErr_ExceptionMatches(PyExc_KeyError)) {
            return -1;
        }
        PyErr_Clear();
    }
    if (PyDict_GET_SIZE(self->entered) == 0 && PyDict_GET_SIZE(self->held) == 0 &&
        PyDict_SetItem(self->state->flags, self->is_any_active, Py_False) < 0) {
        return -1;
    }
    PyObject *family = SLOT(here, self->of.family);
    SLOT(here, self->of.family) = Py_NewRef(Py_None);
    int failed = count_active(self, family, -1);
    Py_DECREF(family);
    Py_SETREF(SLOT(here, self->of.inherited), Py_NewRef(Py_None));
    Py_SETREF(SLOT(here, self->of.variant), Py_NewRef(Py_None));
    return failed ? -1 : put_back(self, here);
}

PyObject *
exit_context(PyObject *callable, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    EntryMethod *self = (EntryMethod *)callable;
    if (PyVectorcall_NARGS(flagged) > 0 && names == NULL) {
        PyObject *here = active_here(self->state);
        if (here == NULL) {
            return NULL;
        }
        int is_ready = is_to_leave(self, here, arguments[0]), failed = is_ready ? leave(self, here) : 0;
        Py_DECREF(here);
        if (failed) {
            return NULL;
        }
        if (is_ready) {
            Py_RETURN_NONE;
        }
    }
    return PyObject_Vectorcall(self->slowly, arguments, flagged, names);
}
