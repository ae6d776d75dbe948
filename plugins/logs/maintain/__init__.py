"""Maintenance of what was imported: reading it again, deleting it, and how long it stays."""
