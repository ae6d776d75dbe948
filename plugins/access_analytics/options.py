"""Configuration keys of the area."""

from snaglist.kernel import Option
from snaglist.kernel.settings import NetworksOption

OPTIONS = (
    NetworksOption("access.trusted_proxies", [], "networks whose entries in a logged forwarded-for field are believed"),
    Option("access.fold_seconds", 3_600, "how often hours over a week old become days; 0: never", 0, 86_400),
)
