"""Files that are handed over piece by piece: what is taken, under which name it lies, and that no half file is read."""

import errno
import os
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import pytest

from snaglist.kernel import Actor
from snaglist.kernel.text import query_text
from snaglist.plugins.logs.collect import unfinished
from snaglist.plugins.logs.collect.discovery import compile_pattern, discover
from snaglist.plugins.logs.collect.drop_folder import due, is_dropped
from snaglist.plugins.logs.uploading import parts
from snaglist.plugins.logs.uploading.names import LONGEST_NAME, safe_name
from snaglist.testing import Answer, Client, running_service

Line = Callable[..., str]
OCTETS = {"Content-Type": "application/octet-stream"}
PIECE = 1024 * 1024
EARLIER = "2026-01-03 10:00:00"


def send(client: Client, content: bytes, headers: dict[str, str] = OCTETS, **query: Any) -> Answer:
    query = {"name": "shop.log", "size": len(content)} | query
    text = urlencode({"api": "uploads", **{name: query_text(value) for name, value in query.items()}})
    return client.request("POST", f"/?{text}", content, headers)


def folder(client: Client) -> Path:
    return client.service.applications.all()[0].logs


def lying(client: Client) -> list[str]:
    return sorted(path.name for path in folder(client).iterdir())


def result(client: Client, answer: Answer) -> Any:
    """What the job found that reads the file."""
    assert answer.status == 202, answer.text
    job = answer.json["job_id"]
    deadline = time.monotonic() + 20
    while (found := client.get("jobs", id=job).json["data"])["status"] in ("queued", "running"):
        assert time.monotonic() < deadline, found
        time.sleep(0.02)
    assert found["status"] == "succeeded", found
    return found["result"]


def test_a_file_in_one_piece_is_read_at_once(client: Client, line: Line) -> None:
    text = line("Order 1 failed") + line("Order 2 failed", seconds=1) + line("fine", "INFO") + "no time at all\n"
    answer = send(client, text.encode(), modified_at=EARLIER)
    assert answer.json["file"] == "shop.log"
    assert answer.json["equal"] is False
    found = result(client, answer)
    assert (found["file"], found["state"], found["error"], found["waiting"]) == ("shop.log", "read", None, None)
    assert (found["entries"], found["with_time"], found["filtered"], found["events"]) == (3, 3, 1, 2)
    assert (found["groups"], found["new_groups"], found["filtered_as"]) == (1, 1, "below WARNING")
    assert client.get("error", id=found["group_id"]).json["data"]["title"].startswith("Order")
    source = client.get("sources").json["data"][0]
    assert (source["id"], source["path"]) == (found["source_id"], "applications/default/processed/shop.log")
    assert lying(client) == []


def test_a_file_in_pieces_is_not_read_before_it_is_whole(client: Client, line: Line) -> None:
    content = (line("Order 1 failed") * 50).encode()
    token, offset = None, 0
    for piece in (content[:1000], content[1000:2000]):
        more = {"upload": token} if token else {}
        answer = send(client, piece, size=len(content), offset=offset, **more)
        assert answer.status == 200
        token, offset = answer.json["upload"], answer.json["received"]
        assert lying(client) == [f".{token}.upload"]
        assert not is_dropped(client.service.applications.all()[0])
        assert discover([folder(client)], compile_pattern("")).files == []
        assert discover([folder(client)], compile_pattern(".*")).files == []
        assert discover([folder(client)], compile_pattern("")).ignored == 0
        assert client.post("import-incoming", wait=True).json["files"] == 0
    found = result(client, send(client, content[2000:], size=len(content), offset=2000, upload=token))
    assert found["events"] == 50


def test_a_piece_that_is_sent_again_changes_nothing(client: Client, line: Line) -> None:
    content = (line("Order 1 failed") * 3).encode()
    token = send(client, content[:100], size=len(content)).json["upload"]
    for _ in range(2):
        assert send(client, content[50:100], size=len(content), offset=50, upload=token).json["received"] == 100
    gap = send(client, content[120:130], size=len(content), offset=120, upload=token)
    assert (gap.status, gap.error) == (409, "100 bytes are here: go on from there.")
    assert result(client, send(client, content[100:], size=len(content), offset=100, upload=token))["events"] == 3


def test_the_last_piece_that_is_sent_again_at_the_same_time_makes_no_second_file(quiet: Client) -> None:
    """A client that lost patience while the file got its place: one of its requests wins, the others find no part."""
    for number in range(20):
        content = f"file {number}\n".encode() * 30
        token = send(quiet, content[:100], name=f"{number}.log", size=len(content)).json["upload"]
        with ThreadPoolExecutor(5) as pool:
            again = [
                pool.submit(
                    send, quiet, content[100:], name=f"{number}.log", size=len(content), offset=100, upload=token
                )
                for _ in range(5)
            ]
        answers = [one.result() for one in again]
        assert {answer.status for answer in answers} <= {202, 404}, [answer.error for answer in answers]
        assert {answer.json["file"] for answer in answers if answer.status == 202} == {f"{number}.log"}
        assert (folder(quiet) / f"{number}.log").read_bytes() == content
    assert sorted(lying(quiet)) == sorted(f"{number}.log" for number in range(20))


def test_a_part_that_is_gone_is_not_made_anew_by_a_later_piece(quiet: Client) -> None:
    content = b"one\n" * 10
    token = send(quiet, content[:8], size=len(content)).json["upload"]
    assert send(quiet, content[8:], size=len(content), offset=8, upload=token).status == 202
    for piece, offset in ((content[8:], 8), (content[:8], 0)):
        answer = send(quiet, piece, size=len(content), offset=offset, upload=token)
        assert (answer.status, answer.error) == (404, "Unknown upload: send the file again.")
    assert lying(quiet) == ["shop.log"]
    assert send(quiet, content, size=len(content)).json["equal"] is True


def test_a_cancelled_file_leaves_nothing(client: Client) -> None:
    token = send(client, b"x" * 10, size=100).json["upload"]
    assert client.delete("uploads", upload=token).json == {"upload": token, "deleted": True}
    assert lying(client) == []
    assert client.delete("uploads", upload=token).status == 404
    gone = send(client, b"x" * 90, size=100, offset=10, upload=token)
    assert (gone.status, gone.error) == (404, "Unknown upload: send the file again.")
    assert lying(client) == []


def test_what_never_came_whole_goes_after_a_day(client: Client) -> None:
    old = send(client, b"x" * 10, size=100).json["upload"]
    at = time.time() - unfinished.KEPT_SECONDS - 1
    os.utime(folder(client) / f".{old}.upload", (at, at))
    new = send(client, b"x" * 10, size=100).json["upload"]
    assert lying(client) == [f".{new}.upload"]


@pytest.fixture
def quiet(tmp_path: Path) -> Any:
    """A client of a service in which no job runs: what is uploaded stays where it is."""
    with running_service(tmp_path / "data", jobs=False) as service:
        yield Client(service)


def test_another_file_of_the_name_is_not_replaced(quiet: Client) -> None:
    assert send(quiet, b"one\n").json["file"] == "shop.log"
    again = send(quiet, b"one\n").json
    assert (again["file"], again["equal"]) == ("shop.log", True)
    other = send(quiet, b"two\n").json
    assert (other["file"], other["equal"]) == ("shop-2.log", False)
    assert send(quiet, b"two\n").json["file"] == "shop-2.log"
    assert {name: (folder(quiet) / name).read_bytes() for name in lying(quiet)} == {
        "shop.log": b"one\n",
        "shop-2.log": b"two\n",
    }
    (folder(quiet) / "linked.log").symlink_to("/etc/passwd")
    assert send(quiet, b"three\n", name="linked.log").json["file"] == "linked-2.log"


def test_many_files_of_one_name_at_once(quiet: Client) -> None:
    names: list[str] = []

    def one(number: int) -> None:
        names.append(send(quiet, f"file {number}\n".encode()).json["file"])

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(names)) == 8
    assert sorted((folder(quiet) / name).read_text() for name in names) == [f"file {number}\n" for number in range(8)]
    assert lying(quiet) == sorted(names)


def test_the_rest_of_a_cut_off_file_goes_with_the_next_import(client: Client) -> None:
    """Which is due because of it; other files with such an ending are people's own."""
    token = send(client, b"one\n", size=9).json["upload"]
    own = folder(client) / "photos.upload"
    own.write_text("mine")
    assert discover([folder(client)], compile_pattern("")).ignored == 1
    assert discover([folder(client)], compile_pattern(".*")).files == [own.resolve()]
    own.unlink()
    application = client.service.applications.all()[0]

    def is_due() -> tuple[bool, bool]:
        call = client.service.call()
        with call.transaction(write=False):
            return is_dropped(application), bool(due(call))

    assert is_due() == (False, False)
    at = time.time() - unfinished.KEPT_SECONDS - 1
    os.utime(folder(client) / f".{token}.upload", (at, at))
    assert is_due() == (True, True)
    assert client.post("import-incoming", wait=True).status == 200
    assert (lying(client), is_due()) == ([], (False, False))


def test_an_old_file_is_not_taken_for_one_whose_rest_did_not_come(
    quiet: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another upload begins, and sweeps, while it is compared with one of its name."""
    send(quiet, b"one\n")

    def compare(*_files: Path, shallow: bool) -> bool:
        unfinished.forget_old(folder(quiet))
        return shallow

    monkeypatch.setattr(parts, "cmp", compare)
    answer = send(quiet, b"two\n", modified_at=EARLIER)
    assert (answer.status, answer.json["file"]) == (202, "shop-2.log")
    assert (folder(quiet) / "shop-2.log").read_bytes() == b"two\n"
    assert (folder(quiet) / "shop-2.log").stat().st_mtime < time.time() - unfinished.KEPT_SECONDS
    assert lying(quiet) == ["shop-2.log", "shop.log"]


def refuse(error: int) -> Callable[..., None]:
    def refused(*_places: Path) -> None:
        raise OSError(error, os.strerror(error))

    return refused


def test_without_hard_links_a_name_is_taken_first(quiet: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", refuse(errno.EPERM))
    assert [send(quiet, text).json["file"] for text in (b"one\n", b"two\n", b"one\n")] == [
        "shop.log",
        "shop-2.log",
        "shop.log",
    ]
    monkeypatch.setattr(os, "replace", refuse(errno.EIO))
    assert send(quiet, b"three\n").status == 503
    assert [name for name in lying(quiet) if not name.startswith(".")] == ["shop-2.log", "shop.log"]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("shop.log", "shop.log"), ("../../etc/cron.d/evil.log", "evil.log"), ("C:\\logs\\app.log", "app.log"),
        ("/var/log/syslog", "syslog"), ("..log", None), ("..", None), ("/", None), ("a/..", None), ("", None),
        ("line\nbreak.log", "line_break.log"), ("esc\x1b[31m.log", "esc_[31m.log"), ("nul\0.log", "nul_.log"),
        ("журнал.log", "журнал.log"), ("日志.LOG", "日志.LOG"), ("😀.log", "😀.log"), ("e\u0301.log", "e\u0301.log"),
        ("\u202egol.exe.log", "_u202egol.exe.log"), ("\ud800.log", "?.log".replace("?", "_")),
        ("a:b*c?.log", "a_b_c_.log"), ("photo.png", None), ("notes.txt", None), ("notes.txt.log", "notes.txt.log"),
        ("app.log.1.gz", "app.log.1.gz"), ("access.log-20260103", "access.log-20260103"), ("a.zip", None),
        ("x.log.upload", None), (".hidden.log", "hidden.log"), ("x.log. .", "x.log"),
    ],
)  # fmt: skip
def test_names(given: str, name: str | None) -> None:
    try:
        found = safe_name(given, "")
    except Exception as error:
        assert name is None, error
        assert str(error).startswith("name: is not that of a log: names of logs end in .log"), error
    else:
        assert found == name


def test_a_long_name_keeps_its_endings() -> None:
    name = safe_name("ж" * 500 + ".log.1.gz", "")
    assert name.startswith("жж")
    assert name.endswith(".log.1.gz")
    assert len(os.fsencode(name)) <= LONGEST_NAME
    with pytest.raises(Exception, match="name:"):
        safe_name("a." + "x" * 500 + ".log" * 100, "")


def test_own_patterns_hold_for_uploads(tmp_path: Path) -> None:
    with running_service(tmp_path / "data", jobs=False, ingestion__log_file_pattern=r".*\.txt") as service:
        client = Client(service)
        assert send(client, b"x", name="a.txt").status == 202
        refused = send(client, b"x", name="a.log")
        assert (refused.status, refused.error) == (422, r"name: is not that of a log: names of logs fit .*\.txt")


def test_a_path_cannot_lead_out_of_the_folder(quiet: Client) -> None:
    before = sorted(path for path in quiet.service.settings.data.rglob("*"))
    for name in ("../../../escape.log", "..%2f..%2fescape.log", "a/../../escape.log", "\\..\\escape.log"):
        assert send(quiet, name.encode(), name=name).status == 202
    made = {path for path in quiet.service.settings.data.rglob("*")} - set(before)
    assert {path.parent for path in made} == {folder(quiet)}
    for token in ("../../x", "a" * 31, "A" * 32, "0" * 32 + "\n", "%00"):
        answer = quiet.request("POST", f"/?api=uploads&name=a.log&size=9&upload={quote(token)}", b"x", OCTETS)
        assert answer.status in (400, 422), answer.text


@pytest.mark.parametrize(
    ("query", "status", "error"),
    [
        ({"size": 0}, 422, "size: "), ({"size": -1}, 422, "size: "), ({"size": "x"}, 422, "size: "),
        ({"size": 10 * 1024**4}, 413, "The file is over the limit of 10737418240 bytes."),
        ({"size": 2}, 422, "size: is less than what was sent"),
        ({"size": 10, "offset": 5}, 422, "upload: must be given with an offset"),
        ({"offset": -1}, 422, "offset: "), ({"name": ""}, 422, "name: "), ({"modified_at": "soon"}, 422, "modified_at"),
        ({"modified_at": "2026-02-30 00:00:00"}, 422, "modified_at: there is no such time"),
        ({"upload": "0" * 32}, 404, "Unknown upload: send the file again."),
    ],
)  # fmt: skip
def test_what_is_refused(quiet: Client, query: dict[str, Any], status: int, error: str) -> None:
    answer = send(quiet, b"abc", **query)
    assert (answer.status, answer.error[: len(error)]) == (status, error)
    assert lying(quiet) == []


def test_a_piece_is_bounded_whatever_size_is_declared(quiet: Client) -> None:
    answer = send(quiet, b"x" * (PIECE + 1), size=PIECE * 5)
    assert (answer.status, answer.error) == (413, f"The body is over the limit of {PIECE} bytes.")
    declared = {**OCTETS, "Content-Length": str(10 * 1024**3)}
    assert send(quiet, b"x", declared, size=PIECE).status == 413
    cut = send(quiet, b"x", {**OCTETS, "Content-Length": "500"}, size=PIECE)
    assert (cut.status, lying(quiet)) == (400, [])


def test_only_bytes_of_the_own_origin_are_taken(quiet: Client) -> None:
    for kind in ("application/json", "text/plain", "multipart/form-data", "application/x-www-form-urlencoded"):
        answer = send(quiet, b"x", {"Content-Type": kind})
        assert (answer.status, answer.error) == (415, "Content-Type: must be application/octet-stream")
    assert send(quiet, b"x", {**OCTETS, "Origin": "https://evil.example"}).status == 403
    assert lying(quiet) == []


def test_uploads_can_be_switched_off(tmp_path: Path) -> None:
    with running_service(tmp_path / "data", jobs=False, ingestion__max_upload_bytes=0) as service:
        client = Client(service)
        reason = "Uploads are switched off on this service (ingestion.max_upload_bytes)."
        assert client.get("uploads").json["reason"] == reason
        answer = send(client, b"x")
        assert (answer.status, answer.error) == (409, reason)


def test_who_may_not_add_logs_is_told_and_sees_no_folder(quiet: Client) -> None:
    viewer = Client(quiet.service, lambda environ, application: Actor("7", "Vi", ("viewer",)))
    told = viewer.get("uploads").json
    assert told["reason"] == "Your role does not allow adding logs. Ask an owner or an editor."
    assert told["folder"] is None
    assert send(viewer, b"x").status == 403
    assert quiet.get("uploads").json == {
        "reason": None, "folder": str(folder(quiet)), "max_bytes": 10 * 1024**3, "piece_bytes": PIECE,
    }  # fmt: skip


def test_without_room_nothing_is_taken(quiet: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    least = quiet.service.settings["health.min_free_bytes"]
    monkeypatch.setattr(parts.shutil, "disk_usage", lambda _: usage._replace(free=least + 100))
    answer = send(quiet, b"x" * 10, size=1000)
    assert (answer.status, answer.error) == (
        503,
        "The disk has no room for this: 1000 bytes are needed, 100 may be used.",
    )
    token = send(quiet, b"x" * 10, size=100).json["upload"]
    monkeypatch.setattr(parts.shutil, "disk_usage", lambda _: usage._replace(free=least))
    assert send(quiet, b"x" * 10, size=100, offset=10, upload=token).status == 503


def test_a_disk_that_is_full_is_said(quiet: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    token = send(quiet, b"x" * 10, size=20).json["upload"]
    monkeypatch.setattr(parts, "_at", lambda call, token: Path("/dev/full"))
    answer = send(quiet, b"x" * 10, size=20, upload=token)
    assert (answer.status, answer.error) == (503, "The disk is full.")


def test_what_an_import_read_first_is_found(tmp_path: Path, line: Line) -> None:
    with running_service(tmp_path / "data", jobs=False) as service:
        client, application = Client(service), service.applications.all()[0]
        job = send(client, line("Order 1 failed").encode(), modified_at=EARLIER).json["job_id"]
        imported = client.post("import-incoming").json["job_id"]
        assert service.jobs.run_next(application, job_id=imported)
        assert lying(client) == []
        assert service.jobs.run_next(application, job_id=job)
        found = client.get("jobs", id=job).json["data"]["result"]
        assert (found["state"], found["source_id"]) == ("unchanged", client.get("sources").json["data"][0]["id"])


class Known(NamedTuple):
    state: str
    events: int


def test_a_file_that_was_read_before_adds_nothing(client: Client, line: Line) -> None:
    content = line("Order 1 failed").encode()
    found = [result(client, send(client, content, modified_at=EARLIER)) for _ in range(2)]
    assert [Known(one["state"], one["events"]) for one in found] == [Known("read", 1), Known("duplicate", 0)]
    assert found[0]["source_id"] is not None


def test_a_file_that_may_still_grow_is_read_so_far(client: Client, line: Line) -> None:
    found = result(client, send(client, line("Order 1 failed").encode()))
    assert (found["events"], found["waiting"]) == (1, "it was changed a moment ago, so it may still grow")
    assert lying(client) == ["shop.log"]


def test_a_folder_that_is_gone_is_said(client: Client, line: Line) -> None:
    shutil.rmtree(folder(client))
    answer = send(client, line("Order 1 failed").encode())
    assert (answer.status, answer.error) == (503, "The file could not be written: No such file or directory.")
