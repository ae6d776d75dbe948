"""Connectors of the type `url`: a real web server, and an S3-compatible server, on loopback."""

import http.server
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from snaglist.kernel.origin import parse_networks

pytestmark = pytest.mark.whole


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files with ranges, unless the server is told to behave worse."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        server: Any = self.server
        server.seen.append((self.command, self.path, self.headers.get("Range")))
        path = Path(self.translate_path(self.path))
        if self.path.startswith("/away"):
            return self._send(302, b"", {"Location": "/app.log"}, with_body)
        if path.is_dir():
            links = "".join(f'<a href="{p.name}{"/" if p.is_dir() else ""}">x</a>' for p in sorted(path.iterdir()))
            return self._send(200, links.encode(), {"Content-Type": "text/html"}, with_body)
        if not path.is_file():
            return self._send(404, b"", {}, with_body)
        data = path.read_bytes()
        headers = {"Last-Modified": formatdate(path.stat().st_mtime, usegmt=True), "Content-Type": "text/plain"}
        asked = self.headers.get("Range")
        if asked and server.ranges:
            first, last = (int(part) for part in asked.removeprefix("bytes=").split("-"))
            if first >= len(data):
                return self._send(416, b"", {}, with_body)
            headers["Content-Range"] = f"bytes {first}-{min(last, len(data) - 1)}/{len(data)}"
            return self._send(206, data[first : last + 1], headers, with_body)
        return self._send(200, data, headers, with_body)

    def _send(self, status: int, body: bytes, headers: dict[str, str], with_body: bool) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def web(folder: Path) -> Iterator[Any]:
    """A web server over the folder of logs."""

    def handler(*arguments: Any) -> Handler:
        return Handler(*arguments, directory=str(folder))

    server: Any = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)  # type: ignore[arg-type]
    server.daemon_threads, server.seen, server.ranges = True, [], True
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def let_through(site: Any) -> Any:
    """`SERVICE_OUTBOUND_ALLOW_PRIVATE=127.0.0.0/8`."""
    site.service.outbound.allowed = tuple(parse_networks(["127.0.0.0/8"]))
    return site


def mirrors(site: Any) -> list[Path]:
    return sorted(p for p in site.service.applications.all()[0].sources.rglob("*") if p.is_file())


def test_a_folder_of_a_web_server(site: Any, web: Any) -> None:
    """On each database: only the tail is asked for, and a rotated file is a new generation."""
    let_through(site)
    path = site.write("app.log", "alpha broke")
    site.write("deep/more.log", "beta broke")
    site.write("notes.txt", "not a log")
    made = site.make(type="url", url=f"{web.url}/")
    plan = site.preview(made["id"])
    assert [(f["path"], f["action"]) for f in plan["files"]] == [
        (f"{web.url}/app.log", "new"),
        (f"{web.url}/deep/more.log", "new"),
    ]
    assert plan["files"][0]["modified_at"] and site.preview(made["id"])["snapshot"] == plan["snapshot"]
    assert site.sync(made["id"])["events_indexed"] == 2
    assert site.actions(made["id"]) == {"app.log": "unchanged", "more.log": "unchanged"}
    held = path.stat().st_size
    site.write("app.log", "gamma broke")
    web.seen.clear()
    run = site.sync(made["id"])
    assert (run["bytes_fetched"], run["events_indexed"]) == (path.stat().st_size - held, 1)
    assert ("GET", "/app.log", f"bytes={held}-{path.stat().st_size - 1}") in web.seen
    site.write("app.log", "delta broke", mode="w")
    assert site.actions(made["id"])["app.log"] == "rotation"
    assert site.sync(made["id"])["events_indexed"] == 1
    assert site.titles() == {f"{name} broke": 1 for name in ("alpha", "beta", "gamma", "delta")}
    assert len(mirrors(site)) == 3


def test_one_file_of_a_web_server_whatever_its_name(sqlite_site: Any, web: Any) -> None:
    site = let_through(sqlite_site)
    site.write("journal", "alpha broke")
    made = site.make(type="url", url=f"{web.url}/journal")
    assert site.sync(made["id"])["events_indexed"] == 1


def test_a_server_without_ranges_is_read_from_its_start(sqlite_site: Any, web: Any) -> None:
    """It sends everything whatever is asked for: what is held is passed over, not stored twice."""
    site = let_through(sqlite_site)
    web.ranges = False
    path = site.write("app.log", "alpha broke", "beta broke")
    made = site.make(type="url", url=f"{web.url}/app.log")
    site.sync(made["id"])
    site.write("app.log", "gamma broke")
    assert site.sync(made["id"])["events_indexed"] == 1
    assert mirrors(site)[0].read_bytes() == path.read_bytes()
    assert site.titles() == {f"{name} broke": 1 for name in ("alpha", "beta", "gamma")}


def test_redirects_are_not_followed(sqlite_site: Any, web: Any) -> None:
    site = let_through(sqlite_site)
    site.write("app.log", "alpha broke")
    made = site.make(type="url", url=f"{web.url}/away.log")
    tested = site.client.post("connectors-test", {"id": made["id"]}).json
    assert tested["ok"] is False and "redirect" in tested["message"]
    assert not [path for _, path, _ in web.seen if path == "/app.log"]


def test_what_is_not_there(sqlite_site: Any, web: Any) -> None:
    site = let_through(sqlite_site)
    made = site.make(type="url", url=f"{web.url}/none/")
    assert site.client.post("connectors-test", {"id": made["id"]}).json == {
        "ok": False, "message": "there is nothing at the URL", "files": 0
    }  # fmt: skip
    assert site.fail(made["id"]) == "there is nothing at the URL"


def test_the_guard_looks_again_at_every_use(sqlite_site: Any, web: Any) -> None:
    """What was let through when it was saved may not be any more."""
    site = let_through(sqlite_site)
    site.write("app.log", "alpha broke")
    made = site.make(type="url", url=f"{web.url}/")
    site.service.outbound.allowed = ()
    web.seen.clear()
    assert "not on the public internet" in site.fail(made["id"])
    assert web.seen == []


@pytest.mark.parametrize("kept", ["options", "secret_options"])
def test_no_option_chooses_another_file_system(sqlite_site: Any, web: Any, tmp_path: Path, kept: str) -> None:
    """fsspec itself would take `protocol` before the scheme, and read files of this machine by it."""
    site = let_through(sqlite_site)
    site.write("app.log", "alpha broke")
    private = tmp_path / "private.log"
    private.write_text("[2026-01-03 10:00:00] production.ERROR: nobody's business\n")
    listing = tmp_path / "references.json"
    listing.write_text(json.dumps({f"{web.url}/app.log": [str(private)]}))
    options = {"protocol": "reference", "fo": str(listing), "remote_protocol": "file"}
    made = site.make(type="url", url=f"{web.url}/app.log", **{kept: options})
    site.client.post("connectors-sync", {"id": made["id"]}, wait=True)
    assert "nobody's business" not in site.titles()
    assert [path for path in mirrors(site) if b"nobody" in path.read_bytes()] == []


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An S3-compatible server in a process of its own; its objects are in memory."""
    log = tmp_path_factory.mktemp("s3") / "log"
    with log.open("wb") as out:
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
        process = subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    try:
        for _ in range(600):
            text = log.read_text()
            if "Running on http://" in text:
                break
            assert process.poll() is None, text
            time.sleep(0.1)
        yield text.partition("Running on ")[2].split()[0]
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def bucket(s3: str) -> Callable[[str, bytes], None]:
    """Put an object into the bucket `logs`."""
    import boto3

    with urlopen(f"{s3}/moto-api/") as answer:
        assert answer.status == 200
    client = boto3.client(
        "s3", endpoint_url=s3, region_name="us-east-1", aws_access_key_id="k", aws_secret_access_key="s"
    )
    client.create_bucket(Bucket="logs")
    return lambda name, data: client.put_object(Bucket="logs", Key=name, Body=data)


def test_an_s3_bucket(
    site: Any, s3: str, bucket: Callable[[str, bytes], None], make_line: Callable[[str], str]
) -> None:
    """Credentials are secret options; objects that grow are objects that were written anew."""
    let_through(site)
    options = {"endpoint_url": s3}
    secret = {"key": "AKIA4711", "secret": "do-not-tell-me-47"}
    first = make_line("alpha broke").encode()
    bucket("web/app.log", first)
    bucket("web/old/app.log.1", make_line("beta broke").encode())
    made = site.make(type="url", url="s3://logs/web/", options=options, secret_options=secret)
    assert made["secrets"] == {"secret_options": ["key", "secret"]}
    assert "do-not-tell-me" not in site.client.get("connectors").text
    assert site.client.post("connectors-test", {"id": made["id"]}).json["message"] == "Discovered 2 log files."
    assert site.sync(made["id"])["events_indexed"] == 2
    second = first + make_line("gamma broke").encode()
    bucket("web/app.log", second)
    run = site.sync(made["id"])
    assert (run["bytes_fetched"], run["events_indexed"]) == (len(second) - len(first), 1)
    assert site.titles() == {f"{name} broke": 1 for name in ("alpha", "beta", "gamma")}


def test_s3_does_not_look_for_credentials_in_the_cloud_it_runs_in(sqlite_site: Any, s3: str) -> None:
    """The address 169.254.169.254 is asked by its client when there are none; the guard refuses it."""
    site = let_through(sqlite_site)
    made = site.make(type="url", url="s3://none/", options={"endpoint_url": s3})
    started = time.monotonic()
    assert site.client.post("connectors-test", {"id": made["id"]}).json["ok"] is False
    assert time.monotonic() - started < 30
