"""The modelling language, the problems declared in it, and the checker."""
