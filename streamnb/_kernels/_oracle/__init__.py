"""What the kernels' C headers and Cython's types are where a kernel runs uncompiled.

Uncompiled, the kernels are the oracle of the tests: the same files, as Python reads them, have to
give the bits of each compiled level. They are many times slower than River, and are no form for
users: see `streamnb._kernels`.
"""
