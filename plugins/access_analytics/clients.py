"""Who asked: the client's address behind the proxies that are trusted."""

import ipaddress
from collections.abc import Callable, Iterable
from functools import lru_cache

from snaglist.kernel.origin import parse_networks
from snaglist.plugins.system import Address, carried_addresses, is_listed


def client_finder(trusted: Iterable[str]) -> Callable[[str, str], str]:
    """Return `(address, forwarded-for field) -> client`: the right-most entry that no trusted proxy wrote for itself.

    An entry is believed only when everything right of it, the peer included, is trusted; a text that is no address
    ends the search.
    """
    networks = parse_networks(trusted)

    def find(address: str, forwarded: str) -> str:
        if not forwarded or not networks:
            return address
        found = address
        for entry in (address, *reversed(forwarded.split(","))):
            read = _read(entry)
            if read is None:
                break
            found = str(read)
            if not is_listed(read, networks):
                break
        return found

    return find


@lru_cache(maxsize=20_000)
def network_of(client: str) -> str:
    """Return the network that an address lies in, without the part that names a single client; "" for what is none.

    One that carries an IPv4 address (6to4, Teredo, NAT64) is of that one's network.
    """
    read = _read(client)
    if read is None:
        return ""
    read = next(reversed(carried_addresses(read)), read)
    return str(ipaddress.ip_network((read, 24 if read.version == 4 else 48), strict=False))


def _read(text: str) -> Address | None:
    """Read an address, with or without brackets, port and zone; the IPv6 form of IPv4 is IPv4."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
