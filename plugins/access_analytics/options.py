"""Configuration keys of the area."""

from snaglist.kernel import Option
from snaglist.kernel.addresses import parse_networks


class NetworksOption(Option):
    """A configuration key that lists networks."""

    wanted = "a list of networks like 10.0.0.0/8"

    def read(self, raw: object) -> list[str]:
        """Return the list; raises ValueError when one of it is no network."""
        listed = Option.read(self, raw)
        if not isinstance(listed, list):
            raise ValueError(self.name)
        parse_networks(listed)
        return listed


OPTIONS = (
    NetworksOption("access.trusted_proxies", [], "networks whose entries in a logged forwarded-for field are believed"),
    Option("access.fold_seconds", 3_600, "how often hours over a week old become days; 0: never", 0, 86_400),
)
