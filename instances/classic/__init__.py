"""Files of benchmark libraries as instances: their format is recognised by their content."""
