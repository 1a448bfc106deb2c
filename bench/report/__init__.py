"""The report of a folder of records: one HTML page without network."""
