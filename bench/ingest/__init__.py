"""``bench import``: a log or weather file of another format is converted to an instance folder or a table."""
