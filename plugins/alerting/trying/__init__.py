"""Trying channels and rules: a test message, or what a rule would have sent."""

from snaglist.plugins.alerting.trying.handlers import ENDPOINTS

__all__ = ["ENDPOINTS"]
