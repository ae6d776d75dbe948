"""Issues and releases: which issue was seen in which release, and where its source is."""

from snaglist.plugins.releases.seen.counting import JOB, count_batch, follow, run, switched
from snaglist.plugins.releases.seen.handlers import ENDPOINTS
from snaglist.plugins.releases.seen.links import link_frames

__all__ = ["ENDPOINTS", "JOB", "count_batch", "follow", "link_frames", "run", "switched"]
