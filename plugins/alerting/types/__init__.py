"""The built-in channel types."""

from snaglist.plugins.alerting.types.apprise import APPRISE
from snaglist.plugins.alerting.types.chat import CHAT
from snaglist.plugins.alerting.types.email import EMAIL
from snaglist.plugins.alerting.types.webhook import WEBHOOK

BUILT_IN = {"webhook": WEBHOOK, **CHAT, "email": EMAIL, "apprise": APPRISE}
