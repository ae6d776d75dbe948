"""Pushed events: everything between an event that a sender gave and its issue, whatever protocol it came by.

An area that takes events makes a `SenderKeys` for who may send, `Rates` for how many, and an `Intake` that stores;
it turns what was sent into `Pushed`, with the context made safe by a `Pruner`.
"""

from snaglist.plugins.logs.pushing.committing import Intake
from snaglist.plugins.logs.pushing.context import MAX_BREADCRUMBS, Pruner, redacted_names
from snaglist.plugins.logs.pushing.document import exceptions_of, read_pushed, structure_of
from snaglist.plugins.logs.pushing.keys import SenderKeys, sender_key
from snaglist.plugins.logs.pushing.rates import Rates
from snaglist.plugins.logs.pushing.sources import pushed_text
from snaglist.plugins.logs.pushing.storing import Delivery, Outcome, Pushed, admit, give_back

__all__ = [
    "MAX_BREADCRUMBS",
    "Delivery",
    "Intake",
    "Outcome",
    "Pruner",
    "Pushed",
    "Rates",
    "SenderKeys",
    "admit",
    "exceptions_of",
    "give_back",
    "pushed_text",
    "read_pushed",
    "redacted_names",
    "sender_key",
    "structure_of",
]
