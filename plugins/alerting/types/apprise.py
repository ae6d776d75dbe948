"""The type `apprise`: any of the services that the library Apprise sends to.

It resolves and connects by itself, so it runs in a guarded child process.
"""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager

from snaglist.kernel import BadGateway, Call, Invalid
from snaglist.plugins.alerting.channels import ChannelType, Message, NotDelivered, Opening, Send, Target
from snaglist.plugins.alerting.channels.contract import TOTAL_SECONDS
from snaglist.plugins.alerting.types import texts
from snaglist.plugins.system import START_SECONDS, GuardedChild

_CLIENT = "snaglist.plugins.alerting.types.apprise_client:Client"
# What shows a message on this machine, or hands it to programs or devices of it.
LOCAL = frozenset(
    (
        "", "file", "exec", "script", "syslog", "dbus", "qt", "kde", "glib", "gio", "gnome", "macosx", "windows",
        "blink1",
    )
)  # fmt: skip

MISSING = "Apprise is not installed: run pip install 'snaglist[alerts]' where snaglist runs."


def _check(call: Call, target: Target) -> str:
    if importlib.util.find_spec("apprise") is None:
        raise Invalid(f"type: {MISSING}")
    scheme, mark, _ = str(target["url"]).partition("://")
    scheme = scheme.strip().lower()
    if not mark or scheme in LOCAL:
        raise Invalid("url: must be an Apprise URL of a service that is reached over the network")
    try:
        with GuardedChild(_CLIENT, call.service.outbound.allowed) as client:
            client.call("check", url=target["url"], timeout=START_SECONDS)
    except BadGateway as error:
        raise Invalid(f"url: {error.message.replace(target['url'], '…')}") from error
    return f"{scheme}://"


@contextmanager
def _open(opening: Opening) -> Iterator[Send]:
    if importlib.util.find_spec("apprise") is None:
        raise NotDelivered(MISSING, answered=True)
    try:
        client = GuardedChild(_CLIENT, opening.call.service.outbound.allowed)
    except BadGateway as error:
        raise NotDelivered(error.message, answered=False) from error

    def send(message: Message) -> None:
        try:
            client.call(
                "notify",
                url=opening.target["url"],
                title=message.summary,
                body="\n".join([*texts.lines(message)[1:], texts.link(message)]).strip() or message.summary,
                timeout=TOTAL_SECONDS,
            )
        except BadGateway as error:
            raise NotDelivered(error.message, answered=False) from error

    with client:
        yield send


APPRISE = ChannelType(("url",), _check, _open)
