"""Configuration keys of the area."""

from snaglist.kernel import NetworksOption, Option

OPTIONS = (
    NetworksOption("access.trusted_proxies", [], "networks whose entries in a logged forwarded-for field are believed"),
    Option("access.fold_seconds", 3_600, "how often hours over a week old become days; 0: never", 0, 86_400),
)
