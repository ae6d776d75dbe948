"""HTTP in, HTTP out: `alert-rules`."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, Endpoint, read, write
from snaglist.plugins.alerting.rules import service


def list_rules(call: Call) -> Mapping[str, Any]:
    """List the rules."""
    return {"data": service.list_rules(call)}


def create_rule(call: Call) -> Mapping[str, Any]:
    """Create a rule."""
    return service.create(call, call.body)


def change_rule(call: Call) -> Mapping[str, Any]:
    """Replace or change a rule: the schemas of the methods differ in what is required and what has a default."""
    return service.change(call, call.body)


def delete_rule(call: Call) -> Mapping[str, Any]:
    """Delete a rule."""
    service.delete(call, call.body["id"])
    return {"id": call.body["id"], "deleted": True}


ENDPOINTS = (
    Endpoint(
        "alert-rules",
        get=read(list_rules, "alerts.read"),
        post=write(create_rule, "settings.write", 201),
        put=write(change_rule, "settings.write"),
        patch=write(change_rule, "settings.write"),
        delete=write(delete_rule, "settings.write"),
    ),
)
