"""Conformance of backends: random small models, solved by enumeration and by every backend."""
