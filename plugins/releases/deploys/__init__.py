"""Deploys: which release went where, and when."""

from snaglist.plugins.releases.deploys.handlers import ENDPOINTS
from snaglist.plugins.releases.deploys.queries import deploy_times, newest_ref

__all__ = ["ENDPOINTS", "deploy_times", "newest_ref"]
