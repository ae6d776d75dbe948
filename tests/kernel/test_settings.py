"""Configuration."""

from pathlib import Path
from typing import Any

import pytest

from snaglist.kernel.settings import KERNEL_OPTIONS, ConfigurationError, Option, Settings


def read(environ: dict[str, str] | None = None, **overrides: Any) -> Settings:
    return Settings({name.replace("__", "."): value for name, value in overrides.items()}, environ=environ or {})


def test_precedence(tmp_path: Path) -> None:
    """Flags, then environment, then file, then default."""
    file = tmp_path / "own.toml"
    file.write_text('[server]\nport = 1000\nthreads = 2\nhost = "file"\n[log]\nlevel = "debug"\n', encoding="utf-8")
    environ = {"SERVICE_CONFIG": str(file), "SERVICE_SERVER_PORT": "2000", "SERVICE_SERVER_THREADS": "3"}
    settings = read(environ, server__port=3000)
    assert [settings["server.port"], settings["server.threads"], settings["log.level"]] == [3000, 3, "debug"]
    assert settings["database.prefix"] == "app_"
    assert settings.warnings() == []


def test_short_names() -> None:
    names = {"SERVICE_DATA": "/d", "SERVICE_TOKEN": "k", "SERVICE_PLUGINS": " a, b ,", "SERVICE_ALLOWED_HOSTS": "x,y"}
    settings = read(names | {"SERVICE_HOOK_TRACE": "1", "SERVICE_DISABLED_PLUGINS": "c"})
    assert settings["server.data"] == "/d"
    assert settings["auth.token"] == "k"
    assert settings["plugins.enabled"] == ["a", "b"]
    assert settings["server.allowed_hosts"] == ["x", "y"]
    assert settings["log.hook_trace"] is True
    assert settings["plugins.disabled"] == ["c"]
    assert settings.warnings() == []


def test_file_is_found_in_the_data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "snaglist.toml").write_text("server.port = 1\n", encoding="utf-8")
    assert read()["server.port"] == 1
    (tmp_path / "snaglist.toml").write_text("server.port = 2\n", encoding="utf-8")
    assert read()["server.port"] == 2
    other = tmp_path / "other.toml"
    other.write_text("server.port = 3\n", encoding="utf-8")
    flagged = tmp_path / "flag.toml"
    flagged.write_text("server.port = 4\n", encoding="utf-8")
    assert read({"SERVICE_CONFIG": str(other)})["server.port"] == 3
    both = read({"SERVICE_CONFIG": str(other)}, config=str(flagged))
    assert both["server.port"] == 4
    assert both.warnings() == []


@pytest.mark.parametrize("contents", [b"[server", b"a = 1\na = 2\n", b"\xff\xfe"])
def test_a_file_that_is_not_toml_stops_the_start(tmp_path: Path, contents: bytes) -> None:
    file = tmp_path / "bad.toml"
    file.write_bytes(contents)
    with pytest.raises(ConfigurationError, match=r"bad\.toml"):
        read({"SERVICE_CONFIG": str(file)})


def test_a_named_file_that_is_missing_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        read({"SERVICE_CONFIG": str(tmp_path / "none.toml")})
    with pytest.raises(ConfigurationError):
        read({"SERVICE_CONFIG": str(tmp_path)})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("server.port", "abc"), ("server.port", "70000"), ("server.port", "-1"), ("server.port", "1_0"),
        ("server.port", "٣"), ("server.port", "1.0"), ("server.port", "9" * 30), ("log.level", "loud"),
        ("log.hook_trace", "yes"), ("log.hook_trace", "TRUE"), ("security.headers_enabled", "2"),
        ("server.url", "logs.example.com"), ("server.url", "ftp://x"), ("server.url", "https://ana@x/"),
        ("server.url", "https://"), ("server.trusted_proxies", "10.0.0.0/33"), ("server.trusted_proxies", "proxy"),
        ("outbound.allow_private", "10.0.0.0/8,x"),
    ],
)  # fmt: skip
def test_unusable_values_are_replaced_by_the_default_and_named(name: str, text: str) -> None:
    """The value is never shown."""
    settings = read({"SERVICE_" + name.upper().replace(".", "_"): text})
    default = next(option.default for option in KERNEL_OPTIONS if option.name == name)
    assert settings[name] == default
    assert [warning.split(":")[0] for warning in settings.warnings()] == [name]
    assert text not in settings.warnings()[0].split(":", 1)[1].replace("https://logs.example.com", "")


@pytest.mark.parametrize(
    "line",
    ['server.port = "80"', "server.port = true", "server.port = 80.0", 'log.hook_trace = "true"', "log.hook_trace = 1",
     "plugins.enabled = [1]", "plugins.enabled = {a = 1}", "server.url = 5", "server.port = 2020-01-01"],
)  # fmt: skip
def test_wrong_types_in_the_file(tmp_path: Path, line: str) -> None:
    file = tmp_path / "types.toml"
    file.write_text(line, encoding="utf-8")
    settings = read({"SERVICE_CONFIG": str(file)})
    given = line.split(" ")[0]
    if line in ('server.port = "80"', 'log.hook_trace = "true"'):  # texts are read as in the environment
        assert settings.warnings() == []
    else:
        assert any(warning.startswith(given) for warning in settings.warnings())


@pytest.mark.parametrize(
    "line",
    ["auth.token = 12345", "auth.token = true", "security.secret = 1", 'database.prefix = "Bad-"', "database.url = 5",
     "server.data = 5", 'server.data = ""', 'host.agent_role = "king"'],
)  # fmt: skip
def test_keys_that_must_not_be_replaced_stop_the_start(tmp_path: Path, line: str) -> None:
    """A key that cannot be used never means an open instance, and data never lands elsewhere or roles grow."""
    file = tmp_path / "vital.toml"
    file.write_text(line, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=line.split(" ")[0]):
        read({"SERVICE_CONFIG": str(file)})


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("server.port", "abc", "must be a whole number from 0 to 65535"),
        ("security.hsts_max_age", "-1", "must be a whole number from 0"),
        ("log.level", "loud", "must be one of debug, info, warning, error"),
        ("log.hook_trace", "yes", "must be true or false"),
        ("server.url", "x", "must be a URL like https://logs.example.com"),
        ("server.trusted_proxies", "x", "must be a list of networks like 10.0.0.0/8"),
    ],
)
def test_a_warning_says_what_fits(name: str, text: str, said: str) -> None:
    settings = read({"SERVICE_" + name.upper().replace(".", "_"): text})
    assert settings.warnings() == [f"{name}: {said}; the default is used"]


def test_a_data_directory_that_is_a_file_is_no_matter_of_the_configuration_file(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("", encoding="utf-8")
    assert read(server__data=str(tmp_path / "data")).data == tmp_path / "data"


def test_unknown_names_are_warned_about(tmp_path: Path) -> None:
    file = tmp_path / "unknown.toml"
    file.write_text("top = 1\nserver.prot = 1\n[nothing]\n[server.port2]\na = 1\n[log]\n", encoding="utf-8")
    settings = read({"SERVICE_CONFIG": str(file), "SERVICE_TOKNE": "x", "OTHER": "y"}, nope__key=1)
    named = {warning.split(":")[0] for warning in settings.warnings()}
    assert named == {"top", "server.prot", "nothing", "server.port2", "SERVICE_TOKNE", "nope.key"}


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    """A variable that a deployment leaves empty must not open an instance whose file has a key."""
    file = tmp_path / "key.toml"
    file.write_text('auth.token = "test-key-0123456789abcdef"\nplugins.enabled = ["a"]\n', encoding="utf-8")
    settings = read({"SERVICE_CONFIG": str(file), "SERVICE_TOKEN": "", "SERVICE_PLUGINS": ""})
    assert settings["auth.token"] == "test-key-0123456789abcdef"
    assert settings["plugins.enabled"] == ["a"]


def test_options_of_areas() -> None:
    settings = read({"SERVICE_ALERTS_RETRY_SECONDS": "1.5", "SERVICE_ALERTS_RATIO": "nan"})
    settings.add(Option("alerts.retry_seconds", 30.0, "a number", minimum=0))
    settings.add(Option("alerts.ratio", 2.0, "a number"))
    assert settings["alerts.retry_seconds"] == 1.5
    assert settings["alerts.ratio"] == 2.0
    assert settings.warnings() == ["alerts.ratio: must be a number; the default is used"]
    with pytest.raises(ValueError):
        settings.add(Option("server.port", 1, "taken"))


def test_every_option_says_why_it_exists() -> None:
    assert all(option.reason and "." in option.name for option in KERNEL_OPTIONS)


def test_each_of_a_list_is_one_of_the_choices() -> None:
    option = Option("own.colours", ["red"], "for this test", choices=("red", "blue"))
    assert option.read("blue, red") == ["blue", "red"]
    for unfit in ("blue,rde", ["red", "rde"]):
        with pytest.raises(ValueError, match="own"):
            option.read(unfit)
    settings = read({"SERVICE_OWN_COLOURS": "rde"})
    settings.add(option)
    assert settings["own.colours"] == ["red"]
    assert settings.warnings() == ["own.colours: must be a list of red, blue; the default is used"]
