"""Which addresses are public: what the outbound guard lets a connection go to."""

import ipaddress
from collections.abc import Sequence

from snaglist.kernel.origin import Network

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# The special-purpose address registries of IANA, whatever is not globally reachable, and multicast. Written out,
# because what `ipaddress` itself calls global differs between versions of Python.
_SPECIAL_4 = tuple(
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
_GLOBAL_6 = ipaddress.IPv6Network("2000::/3")
_SPECIAL_6 = tuple(ipaddress.IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "3fff::/20"))
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class Refused(Exception):
    """An address is not public and not let through; the message is for the person who chose the target."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def is_listed(address: Address, allowed: Sequence[Network]) -> bool:
    """Tell whether an address, or every address wrapped in it, is in one of the networks."""
    return any(address in network for network in allowed) or (
        bool(inner := carried_addresses(address)) and all(is_listed(each, allowed) for each in inner)
    )


def is_public(address: Address) -> bool:
    """Tell whether an address is globally reachable; one that wraps others is as public as those."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _SPECIAL_4)
    if inner := carried_addresses(address):
        return all(map(is_public, inner))
    return address in _GLOBAL_6 and not any(address in network for network in _SPECIAL_6)


def check_address(text: str, allowed: Sequence[Network]) -> None:
    """Raise Refused for the text of an address that is neither public nor in an allowed network."""
    address = ipaddress.ip_address(text)
    if not (is_public(address) or is_listed(address, allowed)):
        raise Refused("the host is not on the public internet; outbound.allow_private can let its network through")


def carried_addresses(address: Address) -> list[Address]:
    """Return the IPv4 addresses that an address carries; of several the last is that of who uses it.

    Those are mapped (RFC 4291), NAT64 (RFC 6052), 6to4 (RFC 3056), or Teredo (RFC 4380: server and client).
    """
    if isinstance(address, ipaddress.IPv4Address):
        return []
    if address.ipv4_mapped:
        return [address.ipv4_mapped]
    if address.sixtofour:
        return [address.sixtofour]
    if address.teredo:
        return list(address.teredo)
    return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)] if address in _NAT64 else []
