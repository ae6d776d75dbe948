"""Evaluation: which rules fire for what happened."""

from snaglist.plugins.alerting.evaluating.changes import follow
from snaglist.plugins.alerting.evaluating.looking import look_at_batch

__all__ = ["follow", "look_at_batch"]
