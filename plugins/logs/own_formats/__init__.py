"""Formats of one's own: named groups over an example, kept with the application and tried before every other."""
