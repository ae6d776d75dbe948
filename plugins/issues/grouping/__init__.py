"""Which events are one issue: masking of messages, normalisation of stacks, and the key made of both.

A pure function of the event: no database, no setting, no clock. `VERSION` counts the generations of keys;
it goes up with every change that gives any event another key.
"""

from snaglist.plugins.issues.grouping.key import VERSION, GroupingKey, grouping_key
from snaglist.plugins.issues.grouping.paths import path_template
from snaglist.plugins.issues.grouping.spans import quoted_message
from snaglist.plugins.issues.grouping.templates import template

__all__ = ["VERSION", "GroupingKey", "grouping_key", "path_template", "quoted_message", "template"]
