"""The cost of the modelling language: models declared in schedlab beside models written by hand for one solver."""
