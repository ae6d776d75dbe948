"""Storing events: the one way from events to issues, used by imports and by pushed events alike."""

from snaglist.plugins.issues.storing.batch import MAX_EVENTS, store_events
from snaglist.plugins.issues.storing.queries import known_event_ids, move_occurrences, settle_occurrence
from snaglist.plugins.issues.storing.removing import Removed, remove_occurrences
from snaglist.plugins.issues.storing.renaming import move_counts
from snaglist.plugins.issues.storing.reoccurrence import reoccurrence_times
from snaglist.plugins.issues.storing.replacing import forget_empty, replace_event, withdraw_event
from snaglist.plugins.issues.storing.rereading import Reread, Unstored, reread_events

__all__ = [
    "MAX_EVENTS",
    "Removed",
    "Reread",
    "Unstored",
    "forget_empty",
    "known_event_ids",
    "move_counts",
    "move_occurrences",
    "remove_occurrences",
    "reoccurrence_times",
    "replace_event",
    "reread_events",
    "settle_occurrence",
    "store_events",
    "withdraw_event",
]
