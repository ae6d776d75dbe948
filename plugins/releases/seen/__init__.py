"""Issues and releases: which issue was seen in which release, and where its source is."""

from snaglist.plugins.releases.seen.catching_up import JOB, run, switched
from snaglist.plugins.releases.seen.counting import count_batch, follow
from snaglist.plugins.releases.seen.handlers import ENDPOINTS

__all__ = ["ENDPOINTS", "JOB", "count_batch", "follow", "run", "switched"]
