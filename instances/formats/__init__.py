"""Readers and writers of file formats, one module per format or family of formats."""
