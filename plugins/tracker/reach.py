"""Where the API key of the configuration may go.

Whoever may change the settings of an application chooses the host. Where these need not be trusted with the key, the
operator names the hosts it may go to.
"""

from urllib.parse import urlsplit

from snaglist.kernel import Call, Option
from snaglist.kernel.origin import Host, parse_host

HOSTS = "tracker.api_key_hosts"
NOT_MEANT = f"the key of the environment is not for this host: {HOSTS} names those it may go to"
_PORTS = {"https": 443, "http": 80}


class HostsOption(Option):
    """A configuration key that lists hosts, each with a port or for that of HTTPS."""

    wanted = "a list of hosts like gitlab.example.com or gitlab.example.com:8443"

    def read(self, raw: object) -> list[str]:
        """Return the list; raises ValueError when one of it is no host."""
        listed = Option.read(self, raw)
        if not isinstance(listed, list) or not all(map(parse_host, listed)):
            raise ValueError(self.name)
        return listed


def may_go(call: Call, address: str) -> bool:
    """Tell whether the configured key may go to an address of a provider's API."""
    named = [parse_host(text) for text in call.setting(HOSTS)]
    allowed = [_place(host, "https") for host in named if host]
    return not allowed or _of(address) in allowed


def _of(address: str) -> tuple[str, int] | None:
    parts = urlsplit(address)
    host = parse_host(parts.netloc)
    return _place(host, parts.scheme) if host and parts.scheme in _PORTS else None


def _place(host: Host, scheme: str) -> tuple[str, int]:
    return host.name, host.port or _PORTS[scheme]
