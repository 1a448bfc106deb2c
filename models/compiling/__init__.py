"""numba's machinery as schedlab changes it: the cache on disk, the libraries of machine code, the version of numba.

The modules use private interfaces of numba: ``versions`` has the versions that were tried.
"""
