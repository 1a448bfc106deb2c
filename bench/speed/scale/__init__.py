"""How the cost of methods grows with the machine."""
