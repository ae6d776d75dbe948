"""HTTP in, HTTP out: `alert-channels`."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, Endpoint, own, read, write
from snaglist.plugins.alerting.channels import service


def list_channels(call: Call) -> Mapping[str, Any]:
    """List the channels."""
    return {"data": service.list_channels(call)}


def create_channel(call: Call) -> Mapping[str, Any]:
    """Create a channel."""
    return service.create(call, call.body)


def change_channel(call: Call) -> Mapping[str, Any]:
    """Replace or change a channel: the schemas of the methods differ in what is required and what has a default."""
    return service.change(call, call.body)


def delete_channel(call: Call) -> Mapping[str, Any]:
    """Delete a channel with its rules."""
    service.delete(call, call.body["id"])
    return {"id": call.body["id"], "deleted": True}


ENDPOINTS = (
    Endpoint(
        "alert-channels",
        get=read(list_channels, "alerts.read"),
        post=own(create_channel, "settings.write", 201),
        put=own(change_channel, "settings.write"),
        patch=own(change_channel, "settings.write"),
        delete=write(delete_channel, "settings.write"),
    ),
)
