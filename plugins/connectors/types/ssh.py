"""The type `ssh`: files of another machine by SFTP; nothing has to be installed there.

The host proves who it is by its public key: the pinned one, or the first one seen, which is stored and from then
on the only one. Only the protocol layer of paramiko is used, because its client picks the key to compare by the
order of algorithms, and takes a host that offers several keys for a changed one.
"""

import importlib.util
import io
import posixpath
import re
import socket
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from snaglist.kernel import Call, Invalid, times
from snaglist.plugins.connectors.contract import Config, Opening, ReadAt, RemoteFailure, RemoteFile
from snaglist.plugins.connectors.names import wanted_names
from snaglist.plugins.issues import path_of, path_text

if TYPE_CHECKING:
    import paramiko

SECRETS = ("password", "private_key", "passphrase")
KEYS_FOLDER = "keys"
READ_SECONDS = 60
_CREDENTIALS = ("password", "private_key", "key_file", "use_agent")
_WILD = re.compile(r"[*?\[]")
_PIECE = 32 * 1024  # what every server returns in one answer
_RSA = ("rsa-sha2-512", "rsa-sha2-256")


def check(call: Call, config: Config, secrets: Config) -> Config:
    """Look for exactly one way to sign in, and at where the paths may lead."""
    if importlib.util.find_spec("paramiko") is None:
        raise Invalid("type: ssh needs an extra: pip install 'snaglist[ssh]'")
    given = [name for name in _CREDENTIALS if {**config, **secrets}.get(name)]
    if len(given) != 1:
        raise Invalid(f"config: exactly one of {', '.join(_CREDENTIALS)} must be set")
    problems = [f"config.paths[{n}]: {text}" for n, path in enumerate(config["paths"]) if (text := _problem(path))]
    if problems:
        raise Invalid(problems)
    return config


def _problem(path: str) -> str:
    folder, name = posixpath.split(path)
    if "**" in path or _WILD.search(folder):
        return "wildcards may stand in the last part only"
    return "" if name and ".." not in path.split("/") else "must name files, without .."


@contextmanager
def connect(opening: Opening) -> Iterator["Files"]:
    """Connect, compare the host's key, sign in."""
    import paramiko

    config = opening.config
    seconds = opening.call.setting("ssh.connect_timeout")
    transport: paramiko.Transport | None = None
    try:
        transport = paramiko.Transport(_reach(config["host"], config["port"], seconds))
        transport.banner_timeout = transport.auth_timeout = transport.channel_timeout = seconds
        pinned = config["host_key"].split()[:2]
        if pinned:
            transport.get_security_options().key_types = _RSA if pinned[0] == "ssh-rsa" else (pinned[0],)
        transport.start_client(timeout=seconds)
        _compare(transport.get_remote_server_key(), pinned, opening)
        _sign_in(transport, opening)
        channel = paramiko.SFTPClient.from_transport(transport)
        if channel is None:
            raise RemoteFailure("The host offers no SFTP.")
        with channel:
            channel.get_channel().settimeout(READ_SECONDS)  # type: ignore[union-attr]
            yield Files(channel, config, opening.call)
    except paramiko.ssh_exception.IncompatiblePeer as error:
        raise RemoteFailure("Host key changed." if config["host_key"] else "No common algorithms.") from error
    except paramiko.AuthenticationException as error:
        raise RemoteFailure("The host refused to let us in.") from error
    except TimeoutError as error:
        raise RemoteFailure("Connection timed out.") from error
    except (paramiko.SSHException, OSError, EOFError, ValueError) as error:
        raise RemoteFailure(_words(error)) from error
    finally:
        if transport is not None:
            transport.close()


def _reach(host: str, port: int, seconds: float) -> socket.socket:
    try:
        return socket.create_connection((host, port), seconds)
    except ConnectionRefusedError as error:
        raise RemoteFailure(f"Could not connect to {host}:{port}: connection refused.") from error


def _compare(shown: "paramiko.PKey", pinned: list[str], opening: Opening) -> None:
    key = [shown.get_name(), shown.get_base64()]
    if not pinned:
        opening.learn({"host_key": " ".join(key)})
    elif key != pinned:
        raise RemoteFailure("Host key changed.")


def _sign_in(transport: "paramiko.Transport", opening: Opening) -> None:
    import paramiko

    config, secrets = opening.config, opening.secrets
    user = config["user"]
    if secrets.get("password"):
        transport.auth_password(user, secrets["password"])
    elif config["use_agent"]:
        agent = paramiko.Agent()
        try:
            for key in agent.get_keys():
                with suppress(paramiko.SSHException):
                    transport.auth_publickey(user, key)
                    return
        finally:
            agent.close()
        raise paramiko.AuthenticationException
    else:
        transport.auth_publickey(user, _read_key(opening.call, config, secrets))


def _read_key(call: Call, config: Config, secrets: Mapping[str, Any]) -> "paramiko.PKey":
    import paramiko

    text = secrets.get("private_key")
    if not text:
        try:
            text = (call.service.settings.data / KEYS_FOLDER / config["key_file"]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise RemoteFailure("The key file cannot be read.") from error
    for kind in (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey):
        try:
            return kind.from_private_key(io.StringIO(text.strip() + "\n"), secrets.get("passphrase") or None)
        except paramiko.PasswordRequiredException as error:
            raise RemoteFailure("The private key needs its passphrase.") from error
        except (paramiko.SSHException, ValueError, IndexError, UnicodeError):
            continue  # of another kind
    raise RemoteFailure("The private key cannot be read; its passphrase may be wrong.")


class Files:
    """The files behind an SFTP channel."""

    def __init__(self, channel: "paramiko.SFTPClient", config: Config, call: Call) -> None:
        self._channel = channel
        self._paths = config["paths"]
        self._call = call

    def files(self, limit: int) -> list[RemoteFile]:
        """List the files that the paths name; a file that is named itself and is not there is not an error."""
        found: dict[str, RemoteFile] = {}
        for path in self._paths:
            for file in self._matching(path) if _WILD.search(path) else self._named(path):
                found[file.path] = file
                if len(found) > limit:
                    return list(found.values())
        return sorted(found.values(), key=lambda file: file.path)

    def _named(self, path: str) -> Iterator[RemoteFile]:
        with suppress(FileNotFoundError):
            yield from _listed(path, self._channel.stat(_bytes(path)))

    def _matching(self, path: str) -> Iterator[RemoteFile]:
        folder, glob = posixpath.split(path)
        wanted = wanted_names(self._call, glob)
        try:
            for name, status in self._entries(folder):
                if wanted.fullmatch(name):
                    yield from self._resolved(path_text(posixpath.join(str(path_of(folder)), name)), status)
        except OSError as error:
            raise RemoteFailure(f"{folder}: {_words(error)}") from error

    def _entries(self, folder: str) -> list[tuple[str, "paramiko.SFTPAttributes"]]:
        """List a folder as paramiko does, which fails as a whole at one name that is not UTF-8."""
        from paramiko import SFTPAttributes
        from paramiko.sftp import CMD_CLOSE, CMD_OPENDIR, CMD_READDIR

        found = []
        status: Any = SFTPAttributes
        channel: Any = self._channel  # its stubs leave out what is not for the public
        _, answer = channel._request(CMD_OPENDIR, _bytes(folder))
        handle = answer.get_binary()
        try:
            while True:
                _, answer = channel._request(CMD_READDIR, handle)
                for _ in range(answer.get_int()):
                    name, _ = answer.get_binary(), answer.get_binary()
                    found.append((name.decode("utf-8", "surrogateescape"), status._from_msg(answer)))
        except EOFError:
            channel._request(CMD_CLOSE, handle)
        return found

    def _resolved(self, path: str, status: "paramiko.SFTPAttributes") -> Iterator[RemoteFile]:
        if stat.S_ISLNK(status.st_mode or 0):
            try:
                status = self._channel.stat(_bytes(path))
            except OSError:  # a link that leads nowhere
                return
        yield from _listed(path, status)

    @contextmanager
    def open(self, path: str) -> Iterator[ReadAt]:
        """Open a file; the handle stays with it when it is renamed."""
        try:
            handle = self._channel.open(_bytes(path), "rb")
        except OSError as error:
            raise RemoteFailure(f"{path}: {_words(error)}") from error
        with handle:

            def read_at(offset: int, size: int) -> bytes:
                try:
                    # Requests that lie behind the end would leave paramiko waiting for their answers.
                    end = min(offset + size, handle.stat().st_size or 0)
                    pieces = [(at, min(_PIECE, end - at)) for at in range(offset, end, _PIECE)]
                    return b"".join(handle.readv(pieces)) if pieces else b""
                except (OSError, EOFError) as error:
                    raise RemoteFailure(f"{path}: {_words(error)}") from error

            yield read_at


def _listed(path: str, status: "paramiko.SFTPAttributes") -> Iterator[RemoteFile]:
    if stat.S_ISREG(status.st_mode or 0):
        modified = None if status.st_mtime is None else times.of_file(status.st_mtime)
        yield RemoteFile(path, status.st_size or 0, modified)


def _bytes(path: str) -> bytes:
    """Return a path as the host has it."""
    return str(path_of(path)).encode("utf-8", "surrogateescape")


def _words(error: BaseException) -> str:
    if isinstance(error, socket.gaierror):
        return "The host name cannot be resolved."
    if isinstance(error, TimeoutError):
        return "Connection timed out."
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return f"{text.rstrip('.')}."
