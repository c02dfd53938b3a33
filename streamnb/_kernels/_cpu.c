/* The micro-architecture level of x86-64 that this CPU and operating system run.

   A level is the set of instructions that the x86-64 psABI lists for it, and the operating system
   must keep the wide registers over a task switch (XCR0). Compiled with gcc or clang for plain
   x86-64; the levels above are built with the same compilers only. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <cpuid.h>

#define HAS(bits, wanted) (((bits) & (wanted)) == (wanted))

static int
level(void)
{
    const unsigned v2_1c = bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT
                           | bit_CMPXCHG16B;
    const unsigned v3_1c = bit_AVX | bit_FMA | bit_F16C | bit_MOVBE | bit_OSXSAVE;
    const unsigned v3_7b = bit_AVX2 | bit_BMI | bit_BMI2;
    const unsigned v4_7b = bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ
                           | bit_AVX512VL;
    const unsigned lzcnt = 1u << 5, lahf = 1u << 0; /* leaf 0x80000001, ecx */
    const unsigned ymm = 0x06, zmm = 0xe6;          /* XCR0 */
    unsigned a, b, c, d, b7, c_extended, xcr0, xcr0_high;

    if (!__get_cpuid(1, &a, &b, &c, &d) || !HAS(c, v2_1c | v3_1c)
        || !__get_cpuid_count(7, 0, &a, &b7, &d, &d) || !HAS(b7, v3_7b)
        || !__get_cpuid(0x80000001u, &a, &b, &c_extended, &d) || !HAS(c_extended, lzcnt | lahf)) {
        return 0;
    }
    __asm__ volatile("xgetbv" : "=a"(xcr0), "=d"(xcr0_high) : "c"(0));
    if (!HAS(xcr0, ymm)) {
        return 0;
    }
    return HAS(b7, v4_7b) && HAS(xcr0, zmm) ? 2 : 1;
}

static PyObject *
py_level(PyObject *module, PyObject *unused)
{
    return PyLong_FromLong(level());
}

static PyMethodDef methods[] = {
    {"level", py_level, METH_NOARGS, "0 for x86-64, 1 for x86-64-v3, 2 for x86-64-v4."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_cpu",
    .m_doc = "What this CPU runs.",
    .m_size = 0,
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__cpu(void)
{
    return PyModuleDef_Init(&definition);
}
