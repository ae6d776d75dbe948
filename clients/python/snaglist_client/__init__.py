"""Sends what a Python program logs to snaglist: in batches, in the background, never in the program's way."""

from snaglist_client.handler import SnaglistHandler

__all__ = ["SnaglistHandler"]
