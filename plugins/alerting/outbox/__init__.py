"""The outbox: messages from the moment they are due to be sent until somebody has them."""

from snaglist.plugins.alerting.outbox.figures import METRICS
from snaglist.plugins.alerting.outbox.handlers import ENDPOINTS
from snaglist.plugins.alerting.outbox.messages import amount, document, summary
from snaglist.plugins.alerting.outbox.queueing import JOB, queue

__all__ = ["ENDPOINTS", "JOB", "METRICS", "amount", "document", "queue", "summary"]
