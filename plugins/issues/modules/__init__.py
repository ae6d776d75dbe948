"""Modules: the parts of an application that issues, sources and connectors can belong to."""

from snaglist.plugins.issues.modules.handlers import ENDPOINTS
from snaglist.plugins.issues.modules.queries import hold_module
from snaglist.plugins.issues.modules.service import find_or_create_module

__all__ = ["ENDPOINTS", "find_or_create_module", "hold_module"]
