"""Backup, restore and move: applications as one portable file, from any database to any other."""
