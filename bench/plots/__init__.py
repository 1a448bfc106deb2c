"""Plots of results: SVG charts and the HTML page of ``bench plot``. They need matplotlib."""
