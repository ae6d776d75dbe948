"""Configuration keys of the area."""

from snaglist.kernel import NetworksOption, Option

OPTIONS = (
    NetworksOption("access.trusted_proxies", [], "networks whose entries in a logged forwarded-for field are believed"),
    Option("access.own_hosts", [], "hosts of the site itself: links from them are no referrers"),
    Option("access.networks", True, "which networks ask is counted: 192.0.2.0/24, 2001:db8::/48; never an address"),
    Option("access.fold_seconds", 3_600, "how often hours over a week old become days; 0: never", 0, 86_400),
)
