"""Compiled kernels: how a policy decides and learns, and its exact value.

They take arrays and integer codes only. Import them late: numba takes half a second to import.
"""
