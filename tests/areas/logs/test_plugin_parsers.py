"""Parsers of plugins: they take part where their plugin is on, and what one does wrong costs no file an event."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest

from snaglist.kernel import Description, hookimpl, plugins
from snaglist.plugins.issues import Event
from snaglist.plugins.logs import Clock, Parser
from snaglist.plugins.logs.parsers.base import Wrapped
from snaglist.testing import Client, running_service

LINES = "".join(
    f"2026-01-03 10:{n // 60:02}:{n % 60:02}|ERROR|billing|Invoice of anna {n} failed\n" for n in range(2400)
)


class Distribution(NamedTuple):
    """What a plugin was installed from."""

    name: Any
    version: Any


class Strange(BaseException):
    """A class of a plugin's own."""


class Mute(Exception):
    """Says nothing of itself, and fails when asked."""

    def __str__(self) -> str:
        raise RuntimeError("no")


RAISED = [ValueError, RecursionError, MemoryError, KeyboardInterrupt, SystemExit, GeneratorExit, Strange, Mute]
HEADER = re.compile(r"([\d: -]{19})\|([A-Z]+)\|(\w+)\|(.*)")


class Pipes(Parser):
    """Reads the lines above; fails where and when a test says."""

    log_type = "pipes"

    def __init__(self, where: str = "", raised: type[BaseException] | None = None, after: int = 0) -> None:
        self.where, self.raised, self.after = where, raised, after

    def _at(self, where: str) -> None:
        if self.where != where or self.raised is None:
            return
        self.after -= 1
        if self.after < 0:
            raise self.raised("on purpose")

    def fresh(self) -> "Pipes":
        self._at("fresh")
        return self

    def prime(self, lines: Sequence[str]) -> None:
        self._at("prime")

    def header(self, line: str) -> Any | None:
        self._at("header")
        return HEADER.fullmatch(line)

    def foreign(self, line: str) -> Any | None:
        self._at("foreign")
        return self.header(line)

    def event(self, header: Any, lines: Sequence[str], clock: Clock) -> Event:
        self._at("event")
        time, level, channel, message = header.groups()
        return Event(message, severity=level, occurred_at=clock.read("iso", time), channel=channel)


def install(monkeypatch: pytest.MonkeyPatch, parser: Any, name: str = "pipes") -> None:
    """Install a plugin with a parser beside all areas."""
    module: Any = ModuleType(f"plugin_{name}")
    module.describe = hookimpl(lambda: Description(name, "Pipes", "", "Log formats", "1.0"))
    module.register_parsers = hookimpl(lambda: [parser])
    for hook in ("describe", "register_parsers"):
        getattr(module, hook).__name__ = hook
    point = SimpleNamespace(name=name, load=lambda: module, dist=Distribution("snaglist-pipes", "1.0"))
    monkeypatch.setattr(plugins, "entry_points", lambda group: [*entry_points(group=group), point])


@pytest.fixture
def having(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fresh_data: Path) -> Callable[..., Any]:
    """A client of a service with the plugin, which is on unless `on` is false: `with having(Pipes()) as client`."""

    @contextmanager
    def make(parser: Any, *, on: bool = True, data: Path = fresh_data, **config: Any) -> Iterator[Client]:
        install(monkeypatch, parser)
        with running_service(data, **config) as service:
            client = Client(service)
            client.post("plugins", {"id": "pipes", "enabled": on})
            yield client

    return make


Having = Callable[..., Any]


def plugin(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in client.get("plugins").json["data"] if one["id"] == "pipes")
    return found


def read(client: Client, text: str = LINES, name: str = "billing.log") -> tuple[int, dict[str, int]]:
    """Import a file; returns the number of events and of each format."""
    answer = client.feed(text, name)
    assert answer["errors"] == [], answer
    return answer["events"], answer["by_type"]


def test_a_parser_takes_part_where_its_plugin_is_on(having: Having) -> None:
    with having(Pipes()) as client:
        assert read(client) == (2400, {"pipes": 2400})
    with having(Pipes(), on=False) as client:
        assert read(client, LINES.replace("anna", "bob"), "off.log") == (2400, {"console": 2400})


@pytest.mark.parametrize("parser", [object(), Pipes, Pipes("header", KeyboardInterrupt), Pipes("fresh", SystemExit)])
def test_a_plugin_that_is_off_hinders_nothing(having: Having, parser: Any) -> None:
    with having(parser, on=False) as client:
        assert read(client) == (2400, {"console": 2400})
        read_error = plugin(client)["last_error"]
        assert read_error is None or read_error["hook"] == "register_parsers"


@pytest.mark.parametrize("where", ["fresh", "prime", "header", "foreign", "event"])
def test_a_parser_that_raises_is_left_out_for_that_file(
    having: Having, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    """At the first look: the file is read by the others, none of its events is lost, and the plugin says why."""
    text = "[2026-01-03 10:00:00] production.ERROR: other\nand elsewhere\n" if where == "foreign" else LINES[:7000]
    parser = Pipes(where)
    with having(parser) as client:
        for raised in RAISED:
            parser.raised, name = raised, raised.__name__
            caplog.clear()
            events, by_type = read(client, text.replace("other", name).replace("anna", name), f"{name}.log")
            assert events == text.count("|ERROR|") or (events, by_type) == (1, {"monolog": 1}), name
            assert "pipes" not in by_type, name
            error = plugin(client)["last_error"]
            assert error["hook"] == "parser pipes" and error["message"].startswith(name)
            assert "the parser pipes of the plugin pipes failed" in caplog.text, name


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt, Mute])
@pytest.mark.parametrize(("where", "after"), [("event", 2100), ("header", 2900)])
def test_one_that_raises_in_the_middle_loses_nothing(
    having: Having, where: str, after: int, raised: type[BaseException]
) -> None:
    """What it read stands, the rest is read by the others: each line once."""
    with having(Pipes(where, raised, after)) as client:
        events, by_type = read(client)
        assert events == 2400 and sum(by_type.values()) == 2400 and by_type["console"] > 0
        shown = client.get("errors", limit=200).json["data"]
        assert sum(issue["count"] for issue in shown) == 2400
        assert plugin(client)["last_error"]["hook"] == "parser pipes"
        assert client.get("health").json["status"] == "ok"


@pytest.mark.parametrize(
    "made",
    [None, "text", Event(5), Event("x", severity=[]), Event("x", exceptions="no"), Event("x", log_type="x" * 41)],  # type: ignore[arg-type]
)
def test_what_is_no_event_is_a_failure_of_the_parser(having: Having, made: Any) -> None:
    parser = Pipes()
    parser.event = lambda header, lines, clock: made  # type: ignore[method-assign]
    with having(parser) as client:
        assert read(client) == (2400, {"console": 2400})
        assert "event()" in plugin(client)["last_error"]["message"]


def test_the_failure_is_shown_until_the_parser_reads_a_file(
    having: Having, tmp_path: Path, database_config: dict[str, str]
) -> None:
    """On each database: in `plugins`, and not at the file."""
    parser = Pipes("event", KeyError)
    with having(parser, data=tmp_path / "data", **database_config) as client:
        read(client)
        assert plugin(client)["last_error"]["message"] == "KeyError: 'on purpose'"
        (source,) = client.get("sources").json["data"]
        assert (source["status"], source["last_error"]) == ("ok", None)
        parser.raised = None
        assert read(client, LINES.replace("anna", "bob"), "bob.log") == (2400, {"pipes": 2400})
        assert plugin(client)["last_error"] is None


def test_a_reindex_reads_on_without_it(having: Having) -> None:
    parser = Pipes()
    with having(parser) as client:
        read(client)
        parser.where, parser.raised, parser.after = "event", SystemExit, 1500
        answer = client.post("reindex", {}, wait=True)
        assert answer.status == 200, answer.text
        shown = client.get("errors", limit=200).json["data"]
        assert sum(issue["count"] for issue in shown) == 2400
        assert plugin(client)["last_error"]["hook"] == "parser pipes"


def test_an_event_is_shown_without_it(having: Having) -> None:
    """Read again from the file in a transaction for reading, where nothing can be noted."""
    parser = Pipes()
    with having(parser) as client:
        read(client)
        parser.where, parser.raised = "event", KeyboardInterrupt
        issue = client.get("errors").json["data"][0]
        assert client.get("error", id=issue["id"]).status == 200


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda parser: object(), "register_parsers() must return Parser, not object"),
        (lambda parser: Pipes, "register_parsers() must return Parser, not type"),
        (lambda parser: None, "register_parsers() must return Parser, not NoneType"),
        (lambda parser: vars(parser).update(log_type="") or parser, "log_type: must be a text"),
        (lambda parser: vars(parser).update(log_type=b"x") or parser, "log_type: must be a text"),
        (lambda parser: vars(parser).update(log_type="x" * 41) or parser, "log_type: must have at most 40 characters"),
        (lambda parser: vars(parser).update(family=None) or parser, "family: must be a text"),
        (lambda parser: vars(parser).update(multiline="yes") or parser, "multiline: must be True or False"),
        (lambda parser: vars(parser).update(begins=["2"]) or parser, "begins: must be a text"),
        (lambda parser: vars(parser).update(header=None) or parser, "it has no header()"),
    ],
)
def test_what_is_no_parser_is_told_at_the_start(having: Having, change: Any, message: str) -> None:
    with having(change(Pipes()), on=False) as client:
        shown = plugin(client)
        assert (shown["status"], shown["last_error"]["hook"]) == ("failed", "register_parsers")
        assert message in shown["last_error"]["message"]
        assert read(client) == (2400, {"console": 2400})


def test_in_a_file_of_another_format_a_parser_sees_the_lines_that_begin_as_its_own_do(having: Having) -> None:
    parser = Pipes("foreign", ValueError)
    vars(parser).update(begins="2")
    others = "".join(f"Printing failed for anna: tray {number}\n" for number in range(9))
    with having(parser) as client:
        assert read(client, others, "shop.log") == (9, {"console": 9})
        assert plugin(client)["last_error"] is None
        read(client, f"2 invoices came\n{others}", "more.log")
        assert "on purpose" in plugin(client)["last_error"]["message"]


def test_an_event_that_is_handed_out_again_and_again(having: Having) -> None:
    """The bytes of each entry stay its own, and only the reader says what is provisional."""
    shared = Event("same")
    parser = Pipes()

    def event(header: Any, lines: Sequence[str], clock: Clock) -> Event:
        shared.message, shared.provisional = header[4], True
        return shared

    parser.event = event  # type: ignore[method-assign]
    with having(parser) as client:
        assert read(client) == (2400, {"pipes": 2400})


@pytest.mark.parametrize("made", [5, None, object()])
def test_what_fresh_returns_that_is_no_parser(having: Having, made: Any) -> None:
    parser = Pipes()
    parser.fresh = lambda: made  # type: ignore[method-assign]
    with having(parser) as client:
        assert read(client) == (2400, {"console": 2400})
        assert "fresh() must return a parser" in plugin(client)["last_error"]["message"]


@pytest.mark.parametrize(
    "header",
    [
        Wrapped(None), Wrapped("x", None), Wrapped("x", ("nope", "y")), Wrapped("x", (5, 6)), Wrapped("x", key=[]),
        Wrapped("x", severity=7), Wrapped("x", server_name=b"x"), Wrapped("x", partial=1),
    ],  # type: ignore[arg-type]
)  # fmt: skip
def test_a_wrapped_header_of_another_shape(having: Having, header: Any) -> None:
    parser = Pipes()
    parser.header = lambda line: header if HEADER.fullmatch(line) else None  # type: ignore[method-assign]
    with having(parser) as client:
        assert read(client) == (2400, {"console": 2400})
        assert "header()" in plugin(client)["last_error"]["message"]


def test_half_a_surrogate_in_the_channel_of_a_json_log(tmp_path: Path, database_config: dict[str, str]) -> None:
    """Of the last entry, which the source remembers: the file failed, and nothing of it was stored."""
    line = '{"time": "2026-01-03 10:00:00", "level": "ERROR", "channel": "a\\\\ud800b", "message": "it failed"}\n'
    with running_service(tmp_path / "data", **database_config) as service:
        answer = Client(service).feed(line.replace("\\\\", "\\"), "app.jsonl")
        assert (answer["events"], answer["errors"]) == (1, [])
