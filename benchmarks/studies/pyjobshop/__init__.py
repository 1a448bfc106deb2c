"""Projects and shops with PyJobShop, in an environment of its own, beside the records of ``bench run``."""
