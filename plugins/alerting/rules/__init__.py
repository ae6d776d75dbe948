"""Rules: what sends which messages where."""

from snaglist.plugins.alerting.rules.handlers import ENDPOINTS, find, start_all
from snaglist.plugins.alerting.rules.queries import about, enabled_rules, is_about

__all__ = ["ENDPOINTS", "about", "enabled_rules", "find", "is_about", "start_all"]
