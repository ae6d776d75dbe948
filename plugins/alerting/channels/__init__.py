"""Channels: where messages go, and what keeps that secret."""

from snaglist.plugins.alerting.channels.contract import ChannelType, Message, NotDelivered, Opening, Send, Target
from snaglist.plugins.alerting.channels.handlers import ENDPOINTS
from snaglist.plugins.alerting.channels.sealing import stored
from snaglist.plugins.alerting.channels.sending import opened

__all__ = [
    "ENDPOINTS", "ChannelType", "Message", "NotDelivered", "Opening", "Send", "Target", "opened", "stored",
]  # fmt: skip
