"""Output of ``bench list`` and ``bench show``."""
