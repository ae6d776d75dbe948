"""Rules and sent tags on the way of events."""

import pytest

from snaglist.kernel import times
from snaglist.plugins.issues import Event, EventSource, ExceptionInfo, IssueChange, hookspecs, store_events
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.tags import assign, assign_all, mirror_tags, run_rules
from snaglist.plugins.tags import tables as tag_tables

pytestmark = pytest.mark.servers

MINUTE = 60


@pytest.fixture
def store(service):
    """Store events as an import does and return the ids of their issues."""
    offset = 0

    def act(*messages, minutes=0, exception=None):
        nonlocal offset
        call = service.call()
        events = []
        for message in messages:
            raised = [ExceptionInfo(exception, message)] if exception else []
            when = times.add(call.now, seconds=minutes * MINUTE)
            events.append(Event(message, occurred_at=when, exceptions=raised, byte_start=offset, byte_end=offset + 9))
            offset += 10
        with call.transaction() as db:
            batch = store_events(call, source(db, call.now), events)
        return [stored.issue_id for stored in batch.stored]

    return act


def source(db, now):
    """Return the source `app.log`, making it at the first use."""
    found = db.execute(log_tables.sources.select()).first()
    if found is None:
        row = {
            "path": "app.log", "path_hash": "0" * 64, "generation": 0, "node": "n", "identity": None, "size": 0,
            "modified_at": None, "offset": 0, "prefix_hash": "", "prefix_length": 0, "block_hash": "",
            "content_hash": "", "log_type": "console", "channel": "app.log", "family": "app.log",
            "encoding": "utf-8", "timezone": "UTC", "module_id": None, "connector_id": None, "parser_version": 1,
            "open_event": None, "status": "ok", "last_error": None, "occurrence_count": 0, "imported_at": now,
            "created_at": now,
        }  # fmt: skip
        db.execute(log_tables.sources.insert(), row)
        found = db.execute(log_tables.sources.select()).one()
    return EventSource(found.id, found.module_id, found.path)


def test_hook_events_stored(store, tag, tags_of):
    """Rule 7: enabled rules run on each new issue."""
    tag("a", match_word="alpha")
    tag("off", match_word="alpha", rule_enabled=False)
    yes, no = store("alpha failed", "quite another thing went wrong")
    assert (tags_of(yes), tags_of(no)) == ({"a": "rule"}, {})


def test_changed_text(store, tag, tags_of):
    """Rule 7: rules run again when title or message change; these passes only add."""
    tag("one", match_word="order 4711 ")
    tag("two", match_word="order 4712 ")
    [first] = store("order 4711 failed")
    assert tags_of(first) == {"one": "rule"}
    [second] = store("order 4712 failed", minutes=1)
    assert first == second
    assert tags_of(first) == {"one": "rule", "two": "rule"}


def test_reapplied_rule_follows_the_text(client, store, tag, tags_of):
    """Rule 7: what no longer matches goes at the next rebuild of the rule."""
    tag_id = tag("one", match_word="order 4711 ")["id"]
    [issue_id] = store("order 4711 failed")
    store("order 4712 failed", minutes=1)
    client.patch("tags", {"id": tag_id, "name": "one"})
    assert tags_of(issue_id) == {}


def test_exception_class(store, tag, tags_of):
    """Rule 4: the class of the exception counts, on its own."""
    [issue_id] = store("it went wrong", exception="GatewayTimeout")
    tag("class", match_word="gatewaytimeout")
    tag("both", match_word="GatewayTimeout it")
    [later] = store("something else entirely", exception="GatewayTimeout")
    assert (tags_of(issue_id), tags_of(later)) == ({"class": "rule"}, {"class": "rule"})


def test_removed_by_hand(client, store, tag, tags_of, by_hand):
    """A new event and a PUT of the tag do not bring the tag back; an add by hand does, as `manual`."""
    created = tag("x", match_word="order")
    [issue_id] = store("order 4711 failed")
    by_hand(issue_id, created["id"], "remove")
    store("order 4712 failed", minutes=1)
    assert tags_of(issue_id) == {}
    assert client.put("tags", {"id": created["id"], "name": "x", "match_word": "failed"}).json["issue_count"] == 0
    by_hand(issue_id, created["id"], "add")
    assert tags_of(issue_id) == {"x": "manual"}


def test_hook_issue_changed(client, issue, tag, tags_of):
    """Rules run on a manual issue before the answer, and are fully re-evaluated when it is edited."""
    tag("a", match_word="alpha")
    tag("b", match_word="beta")
    made = client.post("issues", {"title": "alpha"}).json
    assert [(shown["name"], shown["source"]) for shown in made["tags"]] == [("a", "rule")]
    edited = client.patch("issues", {"id": made["data"]["id"], "title": "beta", "description": "beta"}).json
    assert [(shown["name"], shown["source"]) for shown in edited["tags"]] == [("b", "rule")]


def test_edit_keeps_other_assignments(client, issue, tag, tags_of, by_hand, sent):
    """What is not made by a rule stays."""
    issue_id = issue("alpha")
    by_hand(issue_id, tag("hand", match_word="")["id"], "add")
    sent(issue_id, "sent", "ingest")
    tag("rule", match_word="alpha")
    client.patch("issues", {"id": issue_id, "title": "other", "description": "other"})
    assert tags_of(issue_id) == {"hand": "manual", "sent": "ingest"}


def test_edit_without_any_rule_left(service, issue, tag, tags_of):
    """A re-evaluation clears even when no rule is enabled."""
    issue_id = issue("alpha")
    created = tag("x", match_word="alpha")
    call = service.call()
    with call.transaction() as db:
        db.execute(
            tag_tables.tag_rules.update().where(tag_tables.tag_rules.c.tag_id == created["id"]).values(enabled=False)
        )
        run_rules(call, [issue_id])
    assert tags_of(issue_id) == {"x": "rule"}
    with call.transaction():
        run_rules(call, [issue_id], rebuild=True)
    assert tags_of(issue_id) == {}


def test_kinds_of_change_without_rules(service, issue, tag, tags_of):
    """A change of status or assignment is no reason to run rules."""
    issue_id = issue("alpha")
    created = tag("x", match_word="alpha")
    call = service.call()
    with call.transaction() as db:
        db.execute(tag_tables.issue_tags.delete())
        for kind in ("status", "assignment", "snooze"):
            call.emit(hookspecs.issue_changed, IssueChange(kind, (issue_id,)))
    assert tags_of(issue_id) == {}
    with call.transaction():
        call.emit(hookspecs.issue_changed, IssueChange("unmerge", (issue_id,)))
    assert tags_of(issue_id) == {created["name"]: "rule"}


def test_merge_brings_another_text(service, issue, tag, tags_of):
    """Rule 7: after a merge the rules run on the target, whose text may be that of a merged issue."""
    target, merged = issue("alpha"), issue("alpha too")
    tag("x", match_word="alpha")
    call = service.call()
    with call.transaction() as db:
        db.execute(tag_tables.issue_tags.delete())
        call.emit(hookspecs.issue_changed, IssueChange("merge", (merged,), {"target_id": target}))
    assert (tags_of(target), tags_of(merged)) == ({"x": "rule"}, {})


def test_statements_do_not_grow(store, tag, tags_of, statements):
    """Rule 7: one lookup of the rules per batch, and nothing per event, issue or rule."""
    sent = []
    for number in range(2):
        tag(f"t{number}", match_word=f"alpha{'x' * number}")
        with statements() as collected:
            # Sentences of different lengths never become one issue.
            ids = store(*[f"alphax failed {'again ' * length}" for length in range(1 + number * 60)])
        sent.append([text for text in collected if "tag" in text])
        assert all(len(tags_of(issue_id)) == number + 1 for issue_id in ids)
    assert len(set(ids)) > 50
    assert len(sent[0]) == len(sent[1])
    assert sum("tag_rules" in text for text in sent[1]) == 1


class TestAssign:
    """The public door for senders and trackers."""

    def test_missing_tags_get_the_default_look(self, client, issue, sent):
        """Missing tags are created with the default look."""
        sent(issue(), "New", "ingest")
        [made] = client.get("tags").json["data"]
        client.delete("tags", id=made["id"])
        by_api = client.post("tags", {"name": "New"}).json
        look = ("name", "color", "icon", "match_word", "rules", "updated_by")
        assert {name: made[name] for name in look} == {name: by_api[name] for name in look}
        assert made["issue_count"] == 1

    def test_names_are_compared_by_key(self, client, service, issue):
        """Spelling does not make a second tag."""
        first, second = issue(), issue()
        client.post("tags", {"name": "Bug"})
        call = service.call()
        with call.transaction():
            assert assign_all(call, {first: ["BUG", " bug "], second: ["Straße", "STRASSE"]}, "ingest") == 1
            assert assign(call, second, ["strasse"], "ingest") == 0
        shown = [(tag["name"], tag["issue_count"]) for tag in client.get("tags").json["data"]]
        assert shown == [("Bug", 1), ("Straße", 1)]

    def test_odd_names(self, client, service, issue, tags_of):
        """Blank names are skipped, long ones cut, none fails."""
        issue_id = issue()
        call = service.call()
        with call.transaction():
            assert assign(call, issue_id, ["", " \u00a0", "x" * 81, "x" * 200], "tracker") == 1
        assert tags_of(issue_id) == {"x" * 79 + "…": "tracker"}

    def test_nothing_to_assign(self, client, service, issue):
        """No names, no tags."""
        issue_id = issue()
        call = service.call()
        with call.transaction():
            assert assign_all(call, {}, "ingest") == 0
            assert assign(call, issue_id, [], "ingest") == 0
        assert client.get("tags").json == {"data": []}

    def test_many_names(self, client, service, issue, tags_of, monkeypatch):
        """More names than one statement takes parameters."""
        monkeypatch.setattr("snaglist.plugins.tags.service.MAX_MADE", 2_000)
        issue_id = issue()
        call = service.call()
        with call.transaction():
            assert assign(call, issue_id, [f"tag {number}" for number in range(1200)], "ingest") == 1200
        assert len(tags_of(issue_id)) == 1200

    def test_senders_make_no_tags_without_end(self, client, service, issue, tags_of, monkeypatch, caplog):
        """At the limit missing ones are left out, which the log names; known ones and those by hand go on."""
        monkeypatch.setattr("snaglist.plugins.tags.service.MAX_MADE", 3)
        client.post("tags", {"name": "by hand"})
        first, second = issue(), issue()
        call = service.call()
        with call.transaction():
            assert assign_all(call, {first: ["a", "b", "c", "d"], second: ["A", "d", "By hand"]}, "ingest") == 2
        assert "application default has 3 tags, so 2 of ingest are not made: c, d" in caplog.text
        assert tags_of(first) == {"a": "ingest", "b": "ingest"}
        assert tags_of(second) == {"a": "ingest", "by hand": "ingest"}
        with call.transaction():
            assert mirror_tags(call, {first: ["a", "z"]}, "tracker", {"z": "#ff0000"}) == 0
            assert assign(call, second, ["b"], "tracker") == 0
        assert tags_of(first)["a"] == "ingest" and tags_of(second)["b"] == "tracker"
        assert client.post("tags", {"name": "z"}).status == 201
