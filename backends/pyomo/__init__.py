"""The Pyomo backend: the linear form as a ``ConcreteModel``."""
