"""Rules: what sends which messages where."""

from snaglist.plugins.alerting.rules.handlers import ENDPOINTS
from snaglist.plugins.alerting.rules.queries import change_rule, enabled_rules
from snaglist.plugins.alerting.rules.service import find, start_all

__all__ = ["ENDPOINTS", "change_rule", "enabled_rules", "find", "start_all"]
