"""The chat types: one request of a known form each, so they need nothing installed and go to the checked address.

Forms: Slack and what is compatible with it, https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks ·
Discord, https://docs.discord.com/developers/resources/webhook · Microsoft Teams workflows, an Adaptive Card ·
Telegram, https://core.telegram.org/bots/api#sendmessage. Texts come from logs: they name and format nobody and nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from snaglist.kernel import Call, clip
from snaglist.plugins.alerting.channels import ChannelType, Message, Opening, Send, Target
from snaglist.plugins.alerting.types import texts
from snaglist.plugins.alerting.types.posting import check_url, encode, post

TELEGRAM = "https://api.telegram.org"
_SLACK_LIMIT, _DISCORD_LIMIT, _TELEGRAM_LIMIT = 40_000, 2_000, 4_096

Form = Callable[[Message, Target], dict[str, Any]]


def _slack(message: Message, _: Target) -> dict[str, Any]:
    text = "\n".join(texts.lines(message)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    link = texts.link(message)
    return {"text": clip(f"{text}\n{link}" if link else text, _SLACK_LIMIT), "mrkdwn": False}


def _discord(message: Message, _: Target) -> dict[str, Any]:
    return {"content": clip(texts.with_link(message), _DISCORD_LIMIT), "allowed_mentions": {"parse": []}}


def _teams(message: Message, _: Target) -> dict[str, Any]:
    # Runs are shown as they are; the text of a TextBlock would be read as Markdown.
    rows = [
        {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": line, "weight": weight}]}
        for line, weight in zip(texts.lines(message), ("bolder", *["default"] * 9), strict=False)
    ]
    card: dict[str, Any] = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": rows,
    }
    if link := texts.link(message):
        card["actions"] = [{"type": "Action.OpenUrl", "title": "Open", "url": link}]
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}


def _telegram(message: Message, target: Target) -> dict[str, Any]:
    text = clip(texts.with_link(message), _TELEGRAM_LIMIT)
    return {"chat_id": target["chat_id"], "text": text, "link_preview_options": {"is_disabled": True}}


def _opener(
    form: Form, address: Callable[[Mapping[str, Any]], str]
) -> Callable[[Opening], AbstractContextManager[Send]]:
    @contextmanager
    def open_(opening: Opening) -> Iterator[Send]:
        def send(message: Message) -> None:
            post(opening.call, address(opening.target), encode(form(message, opening.target)))

        yield send

    return open_


def _url(target: Target) -> str:
    return str(target["url"])


def _bot(target: Target) -> str:
    return f"{TELEGRAM}/bot{target['bot_token']}/sendMessage"


def _telegram_host(call: Call, target: Target) -> str:
    """Nobody chose this host, so there is nothing to check before a message goes there."""
    return TELEGRAM.removeprefix("https://")


CHAT = {
    "slack": ChannelType(("url",), check_url, _opener(_slack, _url)),
    "discord": ChannelType(("url",), check_url, _opener(_discord, _url)),
    "teams": ChannelType(("url",), check_url, _opener(_teams, _url)),
    "telegram": ChannelType(("bot_token", "chat_id"), _telegram_host, _opener(_telegram, _bot)),
}
