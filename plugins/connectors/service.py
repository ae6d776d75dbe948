"""Rules of connectors: their fields, unique names, secrets, and removal."""

import shutil
from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy import Connection, Row
from sqlalchemy.exc import IntegrityError

from snaglist.kernel import Call, Conflict, Invalid, NotFound, key
from snaglist.plugins.connectors import queries, runs, sealing
from snaglist.plugins.connectors.contract import Config, ConnectorType, types
from snaglist.plugins.connectors.mirrors import folder_of
from snaglist.plugins.connectors.tables import connectors
from snaglist.plugins.issues import file_at, hold_module, show_path
from snaglist.plugins.logs import is_zone
from snaglist.plugins.system import form_types, rows

UNKNOWN = "Unknown connector."
NAME_TAKEN = "name: another connector has this name"


def list_connectors(call: Call) -> Mapping[str, Any]:
    """List the connectors by `key(name)`."""
    folders = {name: kind.schemas for name, kind in types(call).items()}
    shown = [show(call, row) for row in queries.all_connectors(call.db)]
    return {"data": shown, "types": form_types(call.service, "connector", folders)}


def find(call: Call, connector_id: int) -> Row[Any]:
    """Return the row of a connector or raise NotFound."""
    row = queries.one_connector(call.db, connector_id)
    if row is None:
        raise NotFound(UNKNOWN)
    return row


def find_here(call: Call, connector_id: int) -> Row[Any]:
    """Return the row of a connector whose files or mirrors are on this machine; Conflict when they are elsewhere."""
    row = find(call, connector_id)
    if call.service.file_node not in ("", row.node):
        raise Conflict(f"The connector is on node {row.node}.")
    return row


def create(call: Call) -> dict[str, Any]:
    """Check and store a new connector; outside a transaction, because hosts and folders are looked at."""
    body = call.body
    kind = _type(call, body["type"])
    config, secrets, secrets_set = _checked(call, kind, body["type"], body["config"], {})
    _check_zone(body)
    row = {**_columns(call, body, config), "type": body["type"], "node": call.service.settings.node[:64]}

    def store(db: Connection) -> dict[str, Any]:
        _check_module(call, body["module_id"])
        try:
            connector_id = rows.add(db, connectors, {**row, "secrets_set": secrets_set, "created_at": call.now})
        except IntegrityError as error:
            raise Invalid(NAME_TAKEN) from error
        rows.change(db, connectors, connector_id, secrets=sealing.seal(call, connector_id, secrets))
        return show(call, find(call, connector_id))

    return call.write(store)


def replace(call: Call) -> dict[str, Any]:
    """Replace the fields of a connector; secrets that are not given stay."""
    return _change(call, merge=False)


def change(call: Call) -> dict[str, Any]:
    """Change given fields of a connector, and of its `config`."""
    return _change(call, merge=True)


def _change(call: Call, *, merge: bool) -> dict[str, Any]:
    """Check and store new fields of a connector; with `merge` those that are not given stay."""
    body = call.body
    before = call.read(lambda _: find(call, body["id"]))
    if body.get("type", before.type) != before.type:
        raise Invalid("type: cannot change")
    fields = {**before._mapping, **body} if merge else body
    _check_zone(body)
    row = _columns(call, fields, before.config)
    if "config" in body:
        kind = _type(call, before.type)
        given = {**before.config, **body["config"]} if merge else body["config"]
        # With all of them given, nothing stored is needed: so a connector whose key was lost can be repaired.
        stored = {} if set(kind.secrets) <= given.keys() else sealing.unseal(call, before)
        row["config"], secrets, row["secrets_set"] = _checked(call, kind, before.type, given, stored)
        row["secrets"] = sealing.seal(call, before.id, secrets)

    def store(db: Connection) -> dict[str, Any]:
        queries.lock_connectors(db, [before.id])
        if _state(find(call, before.id)) != _state(before):
            raise Conflict("The connector was changed meanwhile; try again.")
        if fields["module_id"] != before.module_id:
            _check_module(call, fields["module_id"])
        try:
            rows.change(db, connectors, before.id, **row)
        except IntegrityError as error:
            raise Invalid(NAME_TAKEN) from error
        return show(call, find(call, before.id))

    return call.write(store)


def delete(call: Call) -> Mapping[str, Any]:
    """Delete a connector with its runs, streams and mirrors; sources and issues stay."""
    connector_id = call.body["id"]

    def remove(db: Connection) -> None:
        queries.lock_connectors(db, [connector_id])
        find(call, connector_id)
        if runs.is_running(call, connector_id):
            raise Conflict("A sync of this connector is running.")
        queries.remove_connector(db, connector_id)

    call.write(remove)
    shutil.rmtree(folder_of(call, connector_id), ignore_errors=True)
    return {"id": connector_id, "deleted": True}


def show(call: Call, row: Row[Any]) -> dict[str, Any]:
    """Return a connector as it is shown: of its secrets, which are set."""
    names = (
        "id", "name", "type", "enabled", "module_id", "module_name", "module_slug", "module_color", "timezone",
        "interval_minutes", "stream_count", "last_synced_at", "last_status", "last_error", "created_at", "updated_at",
    )  # fmt: skip
    shown = {name: getattr(row, name) for name in names}
    return {
        **shown,
        "enabled": bool(row.enabled),
        "config": _shown_config(call, row.config),
        "secrets": row.secrets_set,
    }


def _shown_config(call: Call, config: Config) -> dict[str, Any]:
    shown = dict(config)
    if "directory" in shown:
        in_full = call.may("connectors.write")
        show = partial(file_at, call) if in_full else partial(show_path, call)
        shown["directory"] = str(show(shown["directory"]))
    return shown


def _type(call: Call, name: str) -> ConnectorType:
    kind = types(call).get(name)
    if kind is None:
        raise Invalid(f"type: must be one of {', '.join(sorted(types(call)))}")
    return kind


def _checked(
    call: Call, kind: ConnectorType, name: str, given: Config, stored: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the config to store, defaults filled in, apart from it the secrets that are set, and which these are."""
    schema = call.service.schemas.find(kind.schemas, "definitions", "connector", name)
    if schema is None:
        raise Invalid(f"type: {name} has no schema")
    prepared, problems = schema.check(given)
    if problems:
        raise Invalid(f"config.{problem}" for problem in problems)
    fields = schema.contents["properties"]
    known = {field: prepared[field] for field in fields if field in prepared}
    secrets = {**stored, **{field: known.pop(field) for field in kind.secrets if field in known}}
    secrets = {field: value for field, value in secrets.items() if value}
    config = kind.check(call, known, secrets)
    if secrets:
        call.service.secrets.prepare()
    shown = {
        field: sorted(secrets.get(field, {})) if fields[field]["type"] == "object" else field in secrets
        for field in kind.secrets
    }
    return dict(config), secrets, shown


def _columns(call: Call, fields: Mapping[str, Any], config: Config) -> dict[str, Any]:
    names = ("name", "enabled", "module_id", "timezone", "interval_minutes")
    columns = {name: fields[name] for name in names}
    return {**columns, "name_key": key(fields["name"]), "config": dict(config), "updated_at": call.now}


def _check_zone(body: Mapping[str, Any]) -> None:
    if (zone := body.get("timezone")) and not is_zone(zone):
        raise Invalid("timezone: must be a time zone name like Europe/Berlin, or empty")


def _check_module(call: Call, module_id: int | None) -> None:
    if module_id is not None and not hold_module(call.db, module_id):
        raise Invalid("module_id: there is no such module")


def _state(row: Row[Any]) -> tuple[Any, ...]:
    return row.updated_at, row.config, row.secrets
