"""The second stage of grouping: learning from the set of an application's templates what is a value.

`model` is the pure part, `storing` runs it while events are stored, `showing` explains what it did.
"""

from snaglist.plugins.issues.learning.grouped import GroupingModel, context_of
from snaglist.plugins.issues.learning.model import Model
from snaglist.plugins.issues.learning.showing import learned_values, suggestions
from snaglist.plugins.issues.learning.storing import NewGrouping, learn_again, learn_groupings, set_apart

__all__ = [
    "GroupingModel",
    "Model",
    "NewGrouping",
    "context_of",
    "learn_again",
    "learn_groupings",
    "learned_values",
    "set_apart",
    "suggestions",
]
