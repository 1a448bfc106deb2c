"""``bench import``: a foreign file becomes an instance folder."""
