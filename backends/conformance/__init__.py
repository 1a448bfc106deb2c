"""Conformance test of backends: compare their answers on small random models with complete enumeration."""
