"""The kinds of jobs of the area."""

SYNC = "tracker_sync"
PUSH = "tracker_push"
WEBHOOK = "tracker_webhook"
