"""Configuration keys of the area."""

from snaglist.kernel import Option
from snaglist.plugins.tracker.reach import HOSTS, HostsOption

OPTIONS = (
    Option("tracker.api_key", "", "key for the tracker of every application; empty: each stores its own, sealed"),
    HostsOption(
        HOSTS, [], "the only hosts that key may be sent to; empty: wherever `endpoint_url` of an application says"
    ),
    Option("tracker.webhook_secret", "", "secret of the tracker's webhooks; empty: each application stores its own"),
    Option("tracker.timeout", 15, "seconds that the tracker has for an answer", 1, 120),
    Option("tracker.page_size", 50, "items asked for at a time", 1, 100),
    Option("tracker.interval_minutes", 10, "how often items are pulled; 0: only on demand", 0, 10_080),
    Option("tracker.allow_gitlab_token", False, "take GitLab's X-Gitlab-Token, which signs nothing"),
)
