"""Compilation of kernels: numba's compiler with our own passes, and reports of its progress.

`almoner.jit` has the decorators. These modules depend on the inside of numba, which is why the
package asks for the series of versions that they were tested with.
"""
