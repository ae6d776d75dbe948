"""HTTP in, HTTP out: `tracker-settings`, `tracker-test`, `tracker-sync`, `tracker-webhook`."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, Conflict, Endpoint, Invalid, NotFound, Reply, clip, own, read
from snaglist.plugins.issues import resolve_issue_id
from snaglist.plugins.system import job_reply
from snaglist.plugins.tracker import configuring, webhooks
from snaglist.plugins.tracker import settings as stored
from snaglist.plugins.tracker.contract import TrackerFailure
from snaglist.plugins.tracker.kinds import SYNC

_NAME = 200
_ENTER = {"api_key": "enter an API key, and save it", "webhook_secret": "enter a webhook secret, and save it"}
BUSY = "The tracker is being synced; wait for that job."


def test(call: Call) -> Mapping[str, Any]:
    """Ask the tracker whose key it is; that it refuses is an answer, not a failure."""
    settings = call.read(stored.load)
    try:
        kind = stored.provider(call, settings)
        needed = "api_key" if kind.reads else "webhook_secret"
        if stored.lacks(call, settings, needed):
            raise Invalid(stored.missing(call, needed, _ENTER[needed]))
        if not stored.address(kind, settings.endpoint_url):
            raise Invalid("endpoint_url: enter the address of the tracker, and save it")
        viewer = stored.open_tracker(call, settings, patient=False).viewer()
    except TrackerFailure as error:
        return {"ok": False, "viewer": None, "message": error.message}
    shown = None if viewer is None else {name: clip(getattr(viewer, name), _NAME) for name in ("id", "name", "email")}
    return {"ok": True, "viewer": shown, "message": "Connected."}


def sync(call: Call) -> Reply:
    """Queue a pull, or the pushing or making of items."""
    return job_reply(call, call.write(lambda _: _queue(call)))


def _queue(call: Call) -> int:
    action, settings = call.body["action"], stored.load(call.db)
    if not settings.enabled:
        raise Invalid("enabled: the tracker is not enabled; set it in tracker-settings first")
    args: dict[str, Any] = {"action": action, "actor": call.label}
    if action == "pull":
        if "ids" in call.body:
            raise Invalid("ids: not with pull, which is for all items; give action push or create")
        _check_pull(call, settings)
    else:
        args["ids"] = _ids(call)
    try:
        return call.enqueue(SYNC, args, dedupe=SYNC, total=len(args["ids"]) if "ids" in args else None)
    except Conflict as error:
        raise Conflict(BUSY) from error


def _check_pull(call: Call, settings: stored.Settings) -> None:
    try:
        if not stored.provider(call, settings).reads:
            raise Invalid(f"action: nothing can be pulled with the provider {settings.provider}")
    except TrackerFailure as error:
        raise Invalid(f"provider: {error.message}") from error
    if not settings.wanted.anything:
        raise Invalid("labels: set labels, assignees, a team or a project: a whole workspace is never pulled")


def _ids(call: Call) -> list[int]:
    if "ids" not in call.body:
        raise Invalid(f"ids: is required for {call.body['action']}")
    found = set()
    for issue_id in call.body["ids"]:
        try:
            found.add(resolve_issue_id(call.db, issue_id))
        except NotFound as error:
            raise Invalid(f"ids: unknown issue {issue_id}") from error
    return sorted(found)


ENDPOINTS = (
    Endpoint(
        "tracker-settings",
        get=read(configuring.show_with_types, "tracker.read"),
        put=own(configuring.change, "settings.write"),
        patch=own(configuring.change, "settings.write"),
    ),
    Endpoint("tracker-test", post=own(test, "settings.write")),
    Endpoint("tracker-sync", post=own(sync, "tracker.write", 200, 202)),
    Endpoint("tracker-webhook", post=own(webhooks.receive, None, 200, 202), authenticate=webhooks.authenticate),
)
