"""Endpoint `issues`."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, Endpoint, write
from snaglist.plugins.issues.manual.service import create_issue, edit_issue
from snaglist.plugins.issues.search.detail import show_issue


def post(call: Call) -> Mapping[str, Any]:
    """Create a manual issue."""
    return show_issue(call, create_issue(call, call.body))


def patch(call: Call) -> Mapping[str, Any]:
    """Edit a manual issue."""
    fields = {name: value for name, value in call.body.items() if name != "id"}
    return show_issue(call, edit_issue(call, call.body["id"], fields))


ENDPOINTS = (Endpoint("issues", post=write(post, "issues.write", 201), patch=write(patch, "issues.write")),)
