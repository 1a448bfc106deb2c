"""SVG charts of results. They need matplotlib."""
