"""Configuration keys of the area."""

from snaglist.kernel import Option
from snaglist.plugins.tracker.reach import HOSTS, HostsOption
from snaglist.plugins.tracker.signatures import SECRET_FORM, is_usable


class SecretOption(Option):
    """A configuration key that holds a secret of webhooks, or is empty."""

    wanted = SECRET_FORM

    def read(self, raw: object) -> str:
        """Return the secret; raises ValueError when everybody could sign with it."""
        text = str(Option.read(self, raw)).strip()
        if text and not is_usable(text):
            raise ValueError(self.name)
        return text


OPTIONS = (
    Option("tracker.api_key", "", "key for the tracker of every application; empty: each stores its own, sealed"),
    HostsOption(
        HOSTS, [], "the only hosts that key may be sent to; empty: wherever `endpoint_url` of an application says"
    ),
    SecretOption(
        "tracker.webhook_secret", "", "secret of the tracker's webhooks; empty: each application stores its own"
    ),
    SecretOption("tracker.previous_webhook_secret", "", "taken too while that secret is changed; clear it afterwards"),
    Option("tracker.timeout", 15, "seconds that the tracker has for an answer", 1, 120),
    Option("tracker.page_size", 50, "items asked for at a time", 1, 100),
    Option("tracker.interval_minutes", 10, "how often items are pulled; 0: only on demand", 0, 10_080),
    Option("tracker.allow_gitlab_token", False, "take GitLab's X-Gitlab-Token, which signs nothing"),
)
