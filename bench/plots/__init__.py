"""Plots of results: SVG charts and the HTML page. They need matplotlib."""
