"""Connectors of the type `ssh`, against a real OpenSSH server on loopback."""

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from snaglist.kernel.errors import BadGateway
from snaglist.plugins.connectors import tables
from snaglist.plugins.connectors.types import ssh
from snaglist.plugins.logs import tables as log_tables

pytestmark = pytest.mark.whole

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
REQUIRED = os.environ.get("REQUIRE_SERVERS") == "1"


def make_key(path: Path, kind: str = "ed25519", passphrase: str = "") -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-f", path], check=True)
    return path


@dataclass
class Host:
    """A machine with an SSH server; its host keys can change."""

    base: Path
    port: int
    keys: list[Path] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None

    def start(self, *keys: Path) -> None:
        self.stop()
        self.keys = list(keys)
        config = self.base / "sshd_config"
        lines = [f"HostKey {key}" for key in keys]
        lines += [
            f"Port {self.port}", "ListenAddress 127.0.0.1", "PidFile none", "UsePAM no", "StrictModes no",
            "KbdInteractiveAuthentication no", f"AuthorizedKeysFile {self.base / 'authorized'}",
            "Subsystem sftp internal-sftp", "PermitRootLogin yes", "MaxStartups 100",
        ]  # fmt: skip
        config.write_text("\n".join(lines) + "\n")
        assert SSHD is not None
        log = (self.base / "sshd.log").open("ab")
        self.process = subprocess.Popen([SSHD, "-D", "-e", "-f", config], stdout=log, stderr=log)
        log.close()
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            assert self.process.poll() is None, (self.base / "sshd.log").read_text()
            time.sleep(0.05)
        raise AssertionError("sshd does not answer")

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def public(self, key: Path) -> str:
        return " ".join(key.with_name(key.name + ".pub").read_text().split()[:2])


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    if SSHD is None:
        (pytest.fail if REQUIRED else pytest.skip)("no sshd: apt-get install openssh-server")
    if os.geteuid() == 0:  # where the server of Debian goes without privileges
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    base = tmp_path_factory.mktemp("sshd")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        made = Host(base, free.getsockname()[1])
    make_key(base / "host_ed25519")
    make_key(base / "host_rsa", "rsa")
    make_key(base / "other_ed25519")
    user_keys = [make_key(base / f"user_{kind}", kind) for kind in ("ed25519", "ecdsa", "rsa")]
    user_keys.append(make_key(base / "user_locked", passphrase="open sesame"))
    make_key(base / "stranger")
    (base / "authorized").write_text("".join(key.with_name(key.name + ".pub").read_text() for key in user_keys))
    made.start(base / "host_ed25519", base / "host_rsa")
    yield made
    made.stop()


@pytest.fixture
def config(host: Host) -> Callable[..., dict[str, Any]]:
    """The config of a connector to the host."""

    def make(folder: Path, **changes: Any) -> dict[str, Any]:
        given = {"host": "127.0.0.1", "port": host.port, "user": getpass.getuser(), "paths": [f"{folder}/*.log*"]}
        if not {"password", "key_file", "use_agent"} & changes.keys():
            given["private_key"] = (host.base / "user_ed25519").read_text()
        return {**given, **changes}

    return make


Config = Callable[..., dict[str, Any]]


def mirrors(site: Any) -> list[Path]:
    return sorted(p for p in site.service.applications.all()[0].sources.rglob("*") if p.is_file())


def test_growth_rotation_and_a_copy_are_read_once(site: Any, config: Config) -> None:
    """On each database: what is fetched stands in mirrors, and nothing is counted twice."""
    path = site.write("app.log", "alpha broke")
    made = site.make(type="ssh", **config(site.folder))
    shown = site.preview(made["id"])["files"][0]
    assert (shown["path"], shown["identity"], shown["action"]) == (str(path), None, "new")
    run = site.sync(made["id"])
    assert (run["bytes_fetched"], run["events_indexed"]) == (path.stat().st_size, 1)
    assert [mirror.read_bytes() for mirror in mirrors(site)] == [path.read_bytes()]
    assert site.actions(made["id"]) == {"app.log": "unchanged"}
    before = path.stat().st_size
    site.write("app.log", "beta broke")
    run = site.sync(made["id"])
    assert (run["bytes_fetched"], run["events_indexed"]) == (path.stat().st_size - before, 1)
    site.write("app.log", "gamma broke")
    path.rename(path.with_name("app.log.1"))
    site.write("app.log", "delta broke")
    assert site.actions(made["id"]) == {"app.log": "rotation", "app.log.1": "new"}
    assert site.sync(made["id"])["events_indexed"] == 2
    assert site.titles() == {f"{name} broke": 1 for name in ("alpha", "beta", "gamma", "delta")}
    assert {row.connector_id for row in site.rows(log_tables.sources)} == {made["id"]}
    assert site.client.delete("connectors", {"id": made["id"]}).status == 200
    assert mirrors(site) == []


def test_the_first_host_key_is_kept_and_then_the_only_one(sqlite_site: Any, host: Host, config: Config) -> None:
    """Stored by the test; a preview before it stores nothing."""
    site = sqlite_site
    site.write("app.log", "alpha broke")
    made = site.make(type="ssh", **config(site.folder))
    site.preview(made["id"])
    assert site.client.get("connectors").json["data"][0]["config"]["host_key"] == ""
    tested = site.client.post("connectors-test", {"id": made["id"]}).json
    assert tested == {"ok": True, "message": "Discovered 1 log file.", "files": 1}
    shown = site.client.get("connectors").json["data"][0]
    assert shown["config"]["host_key"] == host.public(host.base / "host_ed25519")
    assert site.rows(tables.streams) == []
    try:
        host.start(host.base / "other_ed25519")
        changed = site.client.post("connectors-test", {"id": made["id"]}).json
        assert changed == {"ok": False, "message": "Host key changed.", "files": 0}
        assert site.fail(made["id"]) == "Host key changed."
        assert site.client.post("connectors-preview", {"id": made["id"]}).status == 502
        assert site.client.get("connectors").json["data"][0]["last_error"] == "Host key changed."
        host.start(host.base / "host_rsa")
        assert site.fail(made["id"]) == "Host key changed."
    finally:
        host.start(host.base / "host_ed25519", host.base / "host_rsa")


@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
def test_a_pinned_key_of_any_kind_the_host_has(sqlite_site: Any, host: Host, config: Config, kind: str) -> None:
    """A host that offers several keys has not changed because another one comes first."""
    site = sqlite_site
    site.write("app.log", "alpha broke")
    pinned = host.public(host.base / f"host_{kind}") + " somebody@somewhere"
    site.sync(site.make(type="ssh", **config(site.folder, host_key=pinned))["id"])


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_keys_of_all_kinds_sign_in(sqlite_site: Any, host: Host, config: Config, kind: str) -> None:
    site = sqlite_site
    site.write("app.log", "alpha broke")
    made = site.make(type="ssh", **config(site.folder, private_key=(host.base / f"user_{kind}").read_text()))
    site.sync(made["id"])


def test_a_locked_key_needs_its_passphrase(sqlite_site: Any, host: Host, config: Config) -> None:
    site = sqlite_site
    site.write("app.log", "alpha broke")
    made = site.make(type="ssh", **config(site.folder, private_key=(host.base / "user_locked").read_text()))
    assert site.fail(made["id"]) == "The private key needs its passphrase."
    site.client.patch("connectors", {"id": made["id"], "config": {"passphrase": "shut sesame"}})
    assert "passphrase may be wrong" in site.fail(made["id"])
    site.client.patch("connectors", {"id": made["id"], "config": {"passphrase": "open sesame"}})
    site.sync(made["id"])


def test_a_key_file_of_the_data_directory(sqlite_site: Any, host: Host, config: Config) -> None:
    site = sqlite_site
    site.write("app.log", "alpha broke")
    made = site.make(type="ssh", **config(site.folder, key_file="deploy"))
    assert site.fail(made["id"]) == "The key file cannot be read."
    keys = site.service.settings.data / "keys"
    keys.mkdir()
    shutil.copy(host.base / "user_ed25519", keys / "deploy")
    site.sync(made["id"])


def test_a_running_agent(sqlite_site: Any, host: Host, config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    site = sqlite_site
    site.write("app.log", "alpha broke")
    made = site.make(type="ssh", **config(site.folder, use_agent=True))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    assert site.fail(made["id"]) == "The host refused to let us in."
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", host.base / "agent"], stdout=subprocess.DEVNULL)
    try:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(host.base / "agent"))
        while not (host.base / "agent").exists():
            time.sleep(0.02)
        for key in ("stranger", "user_ed25519"):
            subprocess.run(["ssh-add", "-q", host.base / key], check=True, stderr=subprocess.DEVNULL)
        site.sync(made["id"])
    finally:
        agent.terminate()
        agent.wait()


@pytest.mark.parametrize("credential", ["password", "stranger"])
def test_who_is_not_known_is_not_let_in(sqlite_site: Any, host: Host, config: Config, credential: str) -> None:
    site = sqlite_site
    secret = "letmein-4711" if credential == "password" else (host.base / "stranger").read_text()
    name = "password" if credential == "password" else "private_key"
    made = site.make(type="ssh", **config(site.folder, **{name: secret}))
    tested = site.client.post("connectors-test", {"id": made["id"]})
    assert tested.json == {"ok": False, "message": "The host refused to let us in.", "files": 0}


def test_73_a_host_that_does_not_answer(sqlite_site: Any, config: Config) -> None:
    """Also for a name that does not exist, and for a server that says nothing."""
    site = sqlite_site
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        made = site.make(type="ssh", **config(site.folder, port=port))
        tested = site.client.post("connectors-test", {"id": made["id"]})
        refused = f"Could not connect to 127.0.0.1:{port}: connection refused."
        assert (tested.status, tested.json["ok"], tested.json["message"]) == (200, False, refused)
        site.client.patch("connectors", {"id": made["id"], "config": {"host": "nowhere.invalid"}})
        tested = site.client.post("connectors-test", {"id": made["id"]})
        assert tested.json["message"] == "The host name cannot be resolved."
        silent.listen()
        site.service.settings._values["ssh.connect_timeout"] = 1
        site.client.patch("connectors", {"id": made["id"], "config": {"host": "127.0.0.1"}})
        started = time.monotonic()
        tested = site.client.post("connectors-test", {"id": made["id"]})
        assert tested.json["ok"] is False and time.monotonic() - started < 10


def test_paths_name_files_and_folders_that_are_there_or_not(sqlite_site: Any, config: Config) -> None:
    site = sqlite_site
    site.write("app.log", "alpha broke")
    site.write("sub/deep.log", "not wanted")
    site.write("odd name", "beta broke")
    (site.folder / "link.log").symlink_to(site.folder / "app.log")
    (site.folder / "dead.log").symlink_to(site.folder / "nothing")
    paths = [f"{site.folder}/*.log", f"{site.folder}/odd name", f"{site.folder}/gone.log", f"{site.folder}/sub"]
    made = site.make(type="ssh", **config(site.folder, paths=paths))
    assert site.actions(made["id"]) == {"app.log": "new", "link.log": "new", "odd name": "new"}
    site.client.patch("connectors", {"id": made["id"], "config": {"paths": [f"{site.folder}/none/*.log"]}})
    tested = site.client.post("connectors-test", {"id": made["id"]}).json
    assert tested["ok"] is False and "No such file" in tested["message"]


def test_names_that_are_not_utf_8(sqlite_site: Any, config: Config) -> None:
    """They are listed, fetched and shown escaped, and stop no other file."""
    site = sqlite_site
    path = site.write("app.log", "alpha broke")
    for name in (b"caf\xe9.log", b"two\nlines.log"):
        with open(os.fsencode(path.parent) + b"/" + name, "wb") as stream:
            stream.write(path.read_bytes().replace(b"alpha", b"beta"))
    made = site.make(type="ssh", **config(site.folder))
    assert set(site.actions(made["id"])) == {"app.log", r"caf\xe9.log", r"two\x0alines.log"}
    assert site.sync(made["id"])["events_indexed"] == 3
    assert site.titles() == {"alpha broke": 1, "beta broke": 2}
    assert set(site.actions(made["id"]).values()) == {"unchanged"}
    named = {**config(site.folder), "paths": [rf"{site.folder}/caf\xe9.log"]}
    assert list(site.actions(site.make("one", type="ssh", **named)["id"])) == [r"caf\xe9.log"]


def test_a_transfer_goes_on_where_it_was_cut(sqlite_site: Any, config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """The length of the mirror is the checkpoint."""
    site = sqlite_site
    site.service.settings._values["sync.chunk_bytes"] = 4096
    path = site.write("app.log", *(f"failure of part {chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(300)))
    made = site.make(type="ssh", **config(site.folder))
    open_file, reads = ssh.Files.open, []

    def cut(self: Any, name: str) -> Any:
        opened = open_file(self, name)

        class Cut:
            def __enter__(self) -> Any:
                read_at = opened.__enter__()

                def limited(offset: int, size: int) -> bytes:
                    reads.append(offset)
                    if len(reads) == 4:
                        raise ssh.RemoteFailure("cut")
                    data: bytes = read_at(offset, size)
                    return data

                return limited

            def __exit__(self, *error: Any) -> None:
                opened.__exit__(*error)

        return Cut()

    monkeypatch.setattr(ssh.Files, "open", cut)
    assert site.fail(made["id"]) == "app.log: cut"
    assert [mirror.stat().st_size for mirror in mirrors(site)] == [3 * 4096]
    shown = site.preview(made["id"])["files"][0]
    assert (shown["action"], shown["bytes_to_fetch"]) == ("append", path.stat().st_size - 3 * 4096)
    reads.clear()
    monkeypatch.setattr(ssh.Files, "open", open_file)
    run = site.sync(made["id"])
    assert run["bytes_fetched"] == path.stat().st_size - 3 * 4096 and run["events_indexed"] == 300
    assert mirrors(site)[0].read_bytes() == path.read_bytes()


def test_a_file_that_is_replaced_while_it_is_fetched(sqlite_site: Any, config: Config, monkeypatch: Any) -> None:
    """What came may be of another file: the mirror goes back, and the next sync begins a new generation."""
    site = sqlite_site
    path = site.write("app.log", "alpha broke")
    made = site.make(type="ssh", **config(site.folder))
    site.sync(made["id"])
    held = path.stat().st_size
    site.write("app.log", "beta broke", "gamma broke")
    open_file = ssh.Files.open

    def replace(self: Any, name: str) -> Any:
        monkeypatch.setattr(ssh.Files, "open", open_file)
        opened = open_file(self, name)
        path.unlink()
        site.write("app.log", "delta broke", "epsilon broke", "zeta broke")
        return opened

    plan = site.preview(made["id"])  # looks at the head, as the sync does before it fetches
    assert plan["files"][0]["action"] == "append"
    from snaglist.plugins.connectors import planning

    make_plan = planning.make_plan

    def planned(*arguments: Any) -> Any:
        made_plan = make_plan(*arguments)
        monkeypatch.setattr(ssh.Files, "open", replace)
        return made_plan

    monkeypatch.setattr(planning, "make_plan", planned)
    assert "replaced while" in site.fail(made["id"])
    assert [mirror.stat().st_size for mirror in mirrors(site)] == [held]
    monkeypatch.undo()
    site.service.settings._values["ingestion.allowed_roots"] = [str(site.folder.parent)]
    assert site.actions(made["id"]) == {"app.log": "rotation"}
    assert site.sync(made["id"])["events_indexed"] == 3
    assert set(site.titles()) == {f"{name} broke" for name in ("alpha", "delta", "epsilon", "zeta")}


def test_a_dropped_file_gives_its_bytes_to_the_mirror(sqlite_site: Any, config: Config) -> None:
    """`reconcile`: only what is not here already is fetched."""
    site = sqlite_site
    path = site.write("app.log", "alpha broke")
    (site.service.applications.all()[0].logs / "app.log").write_bytes(path.read_bytes())
    site.client.post("import-incoming", wait=True)
    made = site.make(type="ssh", **config(site.folder))
    assert site.actions(made["id"]) == {"app.log": "already_ingested"}
    held = path.stat().st_size
    site.write("app.log", "beta broke")
    shown = site.preview(made["id"])["files"][0]
    assert (shown["action"], shown["bytes_to_fetch"]) == ("reconcile", path.stat().st_size - held)
    run = site.sync(made["id"])
    assert (run["bytes_fetched"], run["events_indexed"]) == (path.stat().st_size - held, 1)
    assert mirrors(site)[0].read_bytes() == path.read_bytes()
    assert site.titles() == {"alpha broke": 1, "beta broke": 1}


def test_no_failure_is_a_502_with_a_path_of_ours(sqlite_site: Any, config: Config) -> None:
    site = sqlite_site
    made = site.make(type="ssh", **config(site.folder, key_file="none"))
    assert str(site.service.settings.data) not in site.fail(made["id"])
    assert issubclass(ssh.RemoteFailure, BadGateway)
