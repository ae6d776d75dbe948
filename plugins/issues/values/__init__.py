"""What the events of an issue differ in: the values of their messages, and the words that find them."""

from snaglist.plugins.issues.values.layouts import Layout, message_of, split_message
from snaglist.plugins.issues.values.storing import Described, describe
from snaglist.plugins.issues.values.words import words_of

__all__ = ["Described", "Layout", "describe", "message_of", "split_message", "words_of"]
