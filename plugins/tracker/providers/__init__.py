"""The built-in providers."""

from snaglist.plugins.tracker.providers.generic import GENERIC
from snaglist.plugins.tracker.providers.github import GITHUB
from snaglist.plugins.tracker.providers.gitlab import GITLAB
from snaglist.plugins.tracker.providers.jira import JIRA
from snaglist.plugins.tracker.providers.linear import LINEAR

BUILT_IN = {"linear": LINEAR, "github": GITHUB, "gitlab": GITLAB, "jira": JIRA, "generic": GENERIC}
