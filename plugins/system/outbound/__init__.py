"""Requests to other hosts: which addresses are public, and who is held to them."""

from snaglist.plugins.system.outbound.addresses import Address, Refused, carried_addresses, check_address, is_listed
from snaglist.plugins.system.outbound.child import START_SECONDS, GuardedChild
from snaglist.plugins.system.outbound.guard import MAX_ANSWER, Answer

__all__ = [
    "MAX_ANSWER",
    "START_SECONDS",
    "Address",
    "Answer",
    "GuardedChild",
    "Refused",
    "carried_addresses",
    "check_address",
    "is_listed",
]
