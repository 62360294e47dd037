/* EntryMethod: the type of the methods `__enter__` and `__exit__` of contexts. */

#include "entering.h"

/* The names of `Names`, in their order. */
static const char *const texts_of_names[] = {
    "_type_defaults", "events", "passes", "_is_changed", "report_escapes", "keys", "is_superseded",
    "instrumented_at", "generation", "meta_path", "known", "end", "forget_entries",
};

#define NAME_COUNT (sizeof(Names) / sizeof(PyObject *))

static int
intern_names(EntryMethod *self)
{
    PyObject **names = (PyObject **)&self->name;
    for (size_t number = 0; number < NAME_COUNT; number++) {
        if ((names[number] = PyUnicode_InternFromString(texts_of_names[number])) == NULL) {
            return -1;
        }
    }
    return 0;
}

static int
find_offsets(EntryMethod *self, PyTypeObject *family_type)
{
    Offsets *of = &self->of;
    const struct {
        PyTypeObject *type;
        Py_ssize_t *offset;
        const char *name;
    } slots[] = {
        {self->ready_type, &of->contexts, "contexts"}, {self->ready_type, &of->entered, "entered"},
        {self->ready_type, &of->family, "family"}, {self->ready_type, &of->hook_activations, "hook_activations"},
        {self->ready_type, &of->inherited, "inherited"}, {self->ready_type, &of->left, "left"},
        {self->ready_type, &of->outer, "outer"}, {self->ready_type, &of->roots, "roots"},
        {self->ready_type, &of->successor, "successor"}, {self->ready_type, &of->suspended, "suspended"},
        {self->ready_type, &of->tags, "tags"}, {self->ready_type, &of->token, "token"},
        {self->ready_type, &of->variant, "variant"}, {family_type, &of->active, "active"},
        {family_type, &of->is_met, "is_met"}, {family_type, &of->is_silent, "is_silent"},
        {self->defaults_type, &of->events, "events"},
        {self->defaults_type, &of->key, "key"}, {self->defaults_type, &of->latest, "latest"},
        {self->defaults_type, &of->passes, "passes"},
    };
    for (size_t number = 0; number < sizeof(slots) / sizeof(slots[0]); number++) {
        if ((*slots[number].offset = offset_of_slot(slots[number].type, slots[number].name)) < 0) {
            return -1;
        }
    }
    return 0;
}

/* EntryMethod(slowly, is_entry, (ready, defaults, family), (entered, held, waiting), (finder, system, registry), flag) */
static PyObject *
new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *slowly, *entered, *held, *waiting, *finder, *system, *registry, *flag;
    PyTypeObject *ready, *defaults, *family;
    int is_entry;
    if (!PyArg_ParseTuple(arguments, "Op(O!O!O!)(O!O!O!)(OO!O)U:EntryMethod", &slowly, &is_entry, &PyType_Type, &ready,
                          &PyType_Type, &defaults, &PyType_Type, &family, &PyDict_Type, &entered, &PyDict_Type, &held,
                          &PyDict_Type, &waiting, &finder, &PyDict_Type, &system, &registry, &flag)) {
        return NULL;
    }
    EntryMethod *self = (EntryMethod *)new_callable(type, is_entry ? enter_context : exit_context);
    if (self == NULL) {
        return NULL;
    }
    self->slowly = Py_NewRef(slowly);
    self->ready_type = (PyTypeObject *)Py_NewRef(ready);
    self->defaults_type = (PyTypeObject *)Py_NewRef(defaults);
    self->entered = Py_NewRef(entered);
    self->held = Py_NewRef(held);
    self->waiting = Py_NewRef(waiting);
    self->first_finder = Py_NewRef(finder);
    self->system = Py_NewRef(system);
    self->registry = Py_NewRef(registry);
    self->is_any_active = Py_NewRef(flag);
    if (intern_names(self) < 0 || find_offsets(self, family) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

/* A method of an instance. */
static PyObject *
bind(PyObject *self, PyObject *instance, PyObject *Py_UNUSED(type))
{
    return instance == NULL || instance == Py_None ? Py_NewRef(self) : PyMethod_New(self, instance);
}

static PyObject *
attribute_of_slowly(PyObject *self, void *name)
{
    return PyObject_GetAttrString(((EntryMethod *)self)->slowly, name);
}

static PyGetSetDef attributes[] = {
    {"__name__", attribute_of_slowly, NULL, NULL, "__name__"},
    {"__qualname__", attribute_of_slowly, NULL, NULL, "__qualname__"},
    {"__module__", attribute_of_slowly, NULL, NULL, "__module__"},
    {"__doc__", attribute_of_slowly, NULL, NULL, "__doc__"},
    {NULL},
};

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(EntryMethod, vectorcall), READONLY, NULL},
    {"__wrapped__", T_OBJECT_EX, offsetof(EntryMethod, slowly), READONLY, NULL},
    {NULL},
};

static int
traverse(EntryMethod *self, visitproc visit, void *arg)
{
    VISIT_CALLABLE(self);
    Py_VISIT(self->slowly);
    Py_VISIT(self->ready_type);
    Py_VISIT(self->defaults_type);
    Py_VISIT(self->entered);
    Py_VISIT(self->held);
    Py_VISIT(self->waiting);
    Py_VISIT(self->first_finder);
    Py_VISIT(self->system);
    Py_VISIT(self->registry);
    return 0;
}

static int
clear(EntryMethod *self)
{
    Py_CLEAR(self->slowly);
    Py_CLEAR(self->ready_type);
    Py_CLEAR(self->defaults_type);
    Py_CLEAR(self->entered);
    Py_CLEAR(self->held);
    Py_CLEAR(self->waiting);
    Py_CLEAR(self->first_finder);
    Py_CLEAR(self->system);
    Py_CLEAR(self->registry);
    Py_CLEAR(self->is_any_active);
    for (size_t number = 0; number < NAME_COUNT; number++) {
        Py_CLEAR(((PyObject **)&self->name)[number]);
    }
    return 0;
}

static PyType_Slot slots[] = {
    {Py_tp_new, new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_descr_get, bind},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_dealloc, free_callable},
    {Py_tp_members, members},
    {Py_tp_getset, attributes},
    {0, NULL},
};

PyType_Spec entry_method_spec = {
    .name = "cassette_import.runtime.dispatch.accelerator._dispatch.EntryMethod",
    .basicsize = sizeof(EntryMethod),
    .flags = CALLABLE_FLAGS | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .slots = slots,
};
