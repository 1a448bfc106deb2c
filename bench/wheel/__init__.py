"""``make wheel``: a wheel for one Python and one system that contains the machine code of the kernels."""
