/* The extension module: makes compiled kernels callable from Python, with all types checked.

   build.py generates table.h, which lists the kernels: for each one, its overloads, and for each
   overload the types of the arguments, the types of the results, and the compiled function.

   Only the stable ABI of CPython (3.11 and later) and the API of NumPy are used, so that one build
   serves all versions of both. */

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>

#include <math.h>
#include <stdint.h>
#include <string.h>

#define MOST_DIMENSIONS 4

/* What one argument must be. */
typedef struct {
    char kind;       /* of a number: 'q' int64, 'Q' uint64, 'd' float64, '?' bool; of an array: 'a' */
    char item;       /* of the elements of an array: NumPy's kind, one of "biufc" */
    uint8_t size;    /* bytes of an element */
    uint8_t dimensions;
    uint8_t contiguous;
    uint8_t written; /* must be writeable */
} Argument;

/* What a compiled function raises: a pickled (class, arguments, place), as Numba stores it. */
typedef struct {
    const char *data;
    int32_t length;
    const char *hash;
    void *unwrap; /* NULL, as kernels raise only what is known when they are compiled */
    int32_t allocated;
} Raised;

typedef union {
    int64_t q;
    uint64_t Q;
    double d;
} Number;

/* An array in the layout of Numba. Its memory belongs to the caller, so there is no owner. */
typedef struct {
    void *owner;
    PyObject *parent;
    int64_t items;
    int64_t size;
    void *data;
    int64_t shape_and_strides[2 * MOST_DIMENSIONS];
} Array;

typedef union {
    Number number;
    Array array;
} Value;

typedef int32_t Compiled(Value *const *arguments, Number *results, const Raised **raised);

typedef struct {
    const Argument *arguments;
    const char *results; /* a kind for each */
    Compiled *compiled;
} Overload;

typedef struct {
    const char *name;
    const char *nested; /* its arguments: a point for each, with a record's in parentheses */
    int overloads;
    const Overload *overload;
} Kernel;

static PyObject *call(const Kernel *kernel, PyObject *const *given, Py_ssize_t count);

/* Defines MOST_ARGUMENTS, MOST_DEPTH (of records in records), REQUIRED (a processor), HAS_VNNI, DIGEST, kernels[] and methods[]. */
#include "table.h"

/* Take the fields out of records, which are tuples. Return the number of all arguments, or -1 if
   something else is given. */
static int flatten(const char *nested, PyObject *const *given, Py_ssize_t count, PyObject **flat) {
    PyObject *records[MOST_DEPTH + 1];
    Py_ssize_t next[MOST_DEPTH + 1] = {0}, most[MOST_DEPTH + 1] = {count};
    int depth = 0, found = 0;
    for (; *nested; nested++) {
        if (*nested == ')') {
            if (next[depth] != most[depth]) return -1;
            depth--;
            continue;
        }
        Py_ssize_t place = next[depth]++;
        if (place == most[depth]) return -1;
        PyObject *item = depth ? PyTuple_GetItem(records[depth], place) : given[place];
        if (*nested == '.') {
            flat[found++] = item;
        } else if (PyTuple_Check(item)) {
            records[++depth] = item;
            next[depth] = 0;
            most[depth] = PyTuple_Size(item);
        } else {
            return -1;
        }
    }
    return next[0] == count ? found : -1;
}

static int fits_array(const Argument *wanted, PyObject *given) {
    if (!PyArray_Check(given)) return 0;
    PyArrayObject *array = (PyArrayObject *)given;
    PyArray_Descr *type = PyArray_DESCR(array);
    int needs = NPY_ARRAY_ALIGNED | (wanted->contiguous ? NPY_ARRAY_C_CONTIGUOUS : 0) |
                (wanted->written ? NPY_ARRAY_WRITEABLE : 0);
    return type->kind == wanted->item && PyDataType_ELSIZE(type) == wanted->size &&
           PyArray_NDIM(array) == wanted->dimensions && PyArray_CHKFLAGS(array, needs) &&
           PyArray_ISNBO(type->byteorder);
}

static int fits_number(const Argument *wanted, PyObject *given) {
    switch (wanted->kind) {
    case '?': return PyBool_Check(given) || PyArray_IsScalar(given, Bool);
    case 'd': return PyFloat_Check(given) || PyLong_Check(given) || PyArray_IsScalar(given, Number);
    default: return PyLong_Check(given) || PyArray_IsScalar(given, Integer);
    }
}

static int fits(const Overload *overload, PyObject *const *given, int count) {
    for (int i = 0; i < count; i++) {
        const Argument *wanted = &overload->arguments[i];
        if (!(wanted->kind == 'a' ? fits_array : fits_number)(wanted, given[i])) return 0;
    }
    return 1;
}

static void read_array(PyObject *given, Array *array) {
    PyArrayObject *source = (PyArrayObject *)given;
    int dimensions = PyArray_NDIM(source);
    array->owner = NULL;
    array->parent = given;
    array->items = 1;
    array->size = PyArray_ITEMSIZE(source);
    array->data = PyArray_DATA(source);
    for (int i = 0; i < dimensions; i++) {
        array->items *= PyArray_DIM(source, i);
        array->shape_and_strides[i] = PyArray_DIM(source, i);
        array->shape_and_strides[dimensions + i] = PyArray_STRIDE(source, i);
    }
}

/* Read a number; false, with an exception, if it is out of range. */
static int read_number(char kind, PyObject *given, Number *number) {
    if (kind == 'd') {
        number->d = PyFloat_AsDouble(given);
    } else if (kind == '?') {
        number->q = PyObject_IsTrue(given);
    } else {
        PyObject *whole = PyNumber_Index(given);
        if (whole == NULL) return 0;
        if (kind == 'Q')
            number->Q = PyLong_AsUnsignedLongLong(whole);
        else
            number->q = PyLong_AsLongLong(whole);
        Py_DECREF(whole);
    }
    return !PyErr_Occurred();
}

static PyObject *written_number(char kind, Number number) {
    switch (kind) {
    case 'd': return PyFloat_FromDouble(number.d);
    case '?': return PyBool_FromLong(number.q != 0);
    case 'Q': return PyLong_FromUnsignedLongLong(number.Q);
    default: return PyLong_FromLongLong(number.q);
    }
}

static PyObject *written(const char *kinds, const Number *results) {
    size_t count = strlen(kinds);
    if (count == 0) Py_RETURN_NONE;
    if (count == 1) return written_number(kinds[0], results[0]);
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *number = written_number(kinds[i], results[i]);
        if (number == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, number) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *raise(const Kernel *kernel, const Raised *raised) {
    if (raised == NULL || raised->unwrap != NULL)
        return PyErr_Format(PyExc_RuntimeError, "the kernel %s failed", kernel->name);
    PyObject *pickle = PyImport_ImportModule("pickle");
    if (pickle == NULL) return NULL;
    PyObject *loaded =
        PyObject_CallMethod(pickle, "loads", "y#", raised->data, (Py_ssize_t)raised->length);
    Py_DECREF(pickle);
    if (loaded == NULL) return NULL;
    PyObject *type = PySequence_GetItem(loaded, 0), *values = PySequence_GetItem(loaded, 1);
    if (type != NULL && values != NULL) PyErr_SetObject(type, values);
    Py_XDECREF(type);
    Py_XDECREF(values);
    Py_DECREF(loaded);
    return NULL;
}

/* Say what was given, in a TypeError. */
static PyObject *reject(const Kernel *kernel, PyObject *const *given, Py_ssize_t count) {
    PyObject *list = PyList_New(0), *text = NULL;
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        PyObject *item;
        if (PyArray_Check(given[i])) {
            PyArrayObject *array = (PyArrayObject *)given[i];
            item = PyUnicode_FromFormat(
                "%S[%dd%s%s%s]", (PyObject *)PyArray_DESCR(array), PyArray_NDIM(array),
                PyArray_CHKFLAGS(array, NPY_ARRAY_C_CONTIGUOUS) ? "" : ", strided",
                PyArray_CHKFLAGS(array, NPY_ARRAY_WRITEABLE) ? "" : ", read-only",
                PyArray_CHKFLAGS(array, NPY_ARRAY_ALIGNED) ? "" : ", not aligned");
        } else {
            item = PyObject_GetAttrString((PyObject *)Py_TYPE(given[i]), "__name__");
        }
        if (item == NULL || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    PyObject *comma = PyUnicode_FromString(", ");
    if (list != NULL && comma != NULL) text = PyUnicode_Join(comma, list);
    if (text != NULL)
        PyErr_Format(PyExc_TypeError, "the kernel %s is not compiled for the types (%U)",
                     kernel->name, text);
    Py_XDECREF(comma);
    Py_XDECREF(list);
    Py_XDECREF(text);
    return NULL;
}

static PyObject *call(const Kernel *kernel, PyObject *const *given, Py_ssize_t count) {
    PyObject *flat[MOST_ARGUMENTS];
    int found = flatten(kernel->nested, given, count, flat);
    if (found < 0) return reject(kernel, given, count);
    const Overload *overload = kernel->overload, *end = overload + kernel->overloads;
    while (overload < end && !fits(overload, flat, found)) overload++;
    if (overload == end) return reject(kernel, flat, found);

    Value values[MOST_ARGUMENTS], *arguments[MOST_ARGUMENTS];
    for (int i = 0; i < found; i++) {
        char kind = overload->arguments[i].kind;
        arguments[i] = &values[i];
        if (kind == 'a')
            read_array(flat[i], &values[i].array);
        else if (!read_number(kind, flat[i], &values[i].number))
            return NULL;
    }
    Number results[MOST_RESULTS];
    const Raised *raised = NULL;
    PyThreadState *state = PyEval_SaveThread();
    int32_t failed = overload->compiled(arguments, results, &raised);
    PyEval_RestoreThread(state);
    return failed ? raise(kernel, raised) : written(overload->results, results);
}

/* What Numba's code calls. The memory of arrays that kernels allocate is managed by its nrt.cpp. */

void NRT_MemSys_init(void);

double numba_frexp(double value, int *exponent) {
    *exponent = 0;
    return isfinite(value) ? frexp(value, exponent) : value;
}

double numba_ldexp(double value, int exponent) { return ldexp(value, exponent); }

/* Write the strides of a reshaped array; false if it would have to be copied. In kernels, only
   arrays without gaps between rows are reshaped. */
int numba_attempt_nocopy_reshape(npy_intp count, const npy_intp *shape, const npy_intp *strides,
                                 npy_intp new_count, const npy_intp *new_shape,
                                 npy_intp *new_strides, npy_intp size, int columns_first) {
    npy_intp step = size, items = 1;
    if (columns_first) return 0;
    for (npy_intp i = 0; i < count; i++) items *= shape[i];
    for (npy_intp i = count - 1; items != 0 && i >= 0; step *= shape[i], i--)
        if (shape[i] != 1 && strides[i] != step) return 0;
    step = size;
    for (npy_intp i = new_count - 1; i >= 0; step *= new_shape[i], i--) new_strides[i] = step;
    return 1;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "arborescence." MODULE, NULL, -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC INIT(void) {
    if (!(REQUIRED)) {
        PyErr_SetString(PyExc_ImportError, "the processor cannot run these kernels");
        return NULL;
    }
    import_array();
    NRT_MemSys_init();
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && (PyModule_AddStringConstant(module, "DIGEST", DIGEST) < 0 ||
                           PyModule_AddIntConstant(module, "VNNI", HAS_VNNI ? 1 : 0) < 0))
        Py_CLEAR(module);
    return module;
}
