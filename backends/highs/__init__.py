"""The HiGHS backend: mixed-integer linear models passed as arrays."""
