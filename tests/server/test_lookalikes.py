"""A key under a wrong name opens nothing, as docs/configuration.md says."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from snaglist.hosting import create_wsgi
from snaglist.kernel.auth import Keys
from snaglist.kernel.settings import ConfigurationError, Option, Settings
from snaglist.plugins.system.lookalikes import line_of, require_intended_key

KEY = "test-key-0123456789abcdef"


class Opened:
    """A service of settings alone, with an area that has keys of its own and a plugin that does not work."""

    def __init__(self, environ: dict[str, str] | None = None, **overrides: Any) -> None:
        self.settings = Settings(overrides, environ=environ or {})
        self.settings.add(Option("smtp.password", "", "of an area"))
        self.settings.add(Option("tracker.timeout", 1, "of another"))

    def check(self) -> None:
        keys, plugins = (
            Keys(self.settings["auth.token"]),
            SimpleNamespace(all=lambda: [SimpleNamespace(id="my_plugin")]),
        )
        service: Any = SimpleNamespace(settings=self.settings, keys=keys, plugins=plugins)
        require_intended_key(service)


@pytest.mark.parametrize(
    "name",
    ["SERVICE_TOKENS", "SERVICE_AUTH_KEY", "SERVICE_API_KEY", "SERVICE_TOKNE", "SERVICE_TOKN", "SERVICE_PASSWROD",
     "SERVICE_AUTH", "SERVICE_TOKEN_FILE", "SERVICE_SERVER_TOKEN", "SERVICE_KEY", "SERVICE_PWD", "SERVICE_APIKEY",
     "SERVICE_SECURITY_TOKEN", "SERVICE_SECRETS", "SERVICE_AUTH_TOKEN_1", "SERVICE_ACCESS_CREDENTIALS",
     "service_token", "Service_Auth_Token", "SERVICE_ACCESS_TOKEN", "SERVICE_ACCESS_KEY", "SERVICE_DASHBOARD_PASSWORD",
     "SERVICE_SYSTEM_TOKEN", "SERVICE_LOG_TOKEN", "SERVICE_AUTHTOKEN", "SERVICE_PASSPHRASE", "SERVICE_SECRETKEY"],
)  # fmt: skip
def test_variables_that_look_like_the_key(name: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"^{name}: no such setting; .* SERVICE_TOKEN, .*\[auth\]") as caught:
        Opened({name: KEY}).check()
    assert KEY not in str(caught.value)
    Opened({name: KEY, "SERVICE_TOKEN": KEY}).check()  # there is a key
    Opened({name: ""}).check()


@pytest.mark.parametrize(
    "name",
    ["SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_80_TCP_ADDR", "SERVICE_AUTH_SERVICE_HOST", "SERVICE_AUTH_PORT",
     "SERVICE_AUTH_PORT_443_TCP_PROTO", "SERVICE_KEYS_SERVICE_PORT_HTTP", "SERVICE_SMTP_PASSWROD", "SERVICE_NAME",
     "SERVICE_MY_PLUGIN_API_KEY", "SERVICE_DATABASE_PASSWORD", "SERVICE_VERSION", "SERVICE_BROKER", "SERVICE_TAGS"],
)  # fmt: skip
def test_variables_that_belong_elsewhere(name: str) -> None:
    """They are warned about as before."""
    opened = Opened({name: "tcp://10.0.0.1:80"})
    opened.check()
    assert opened.settings.warnings() == [f"{name}: unknown environment variable"]


@pytest.mark.parametrize(
    "name",
    ["SERVICE_AUTHOR", "SERVICE_KEYBOARD", "SERVICE_MONKEY", "SERVICE_COMPASS", "SERVICE_PASSENGERS",
     "SERVICE_KEYWORDS", "SERVICE_AUTHORITY", "SERVICE_BYPASS", "SERVICE_TOKENIZER", "SERVICE_PASSIVE",
     "SERVICE_KEYCLOAK_REALM", "SERVICE_AUTHENTIK_HOST", "SERVICE_OAUTH_ISSUER", "service_name"],
)  # fmt: skip
def test_words_that_only_hold_one_that_looks_like_a_key(name: str) -> None:
    opened = Opened({name: "x"})
    opened.check()
    assert opened.settings.warnings() == [f"{name}: unknown environment variable"]


def test_an_address_is_no_key() -> None:
    Opened({"SERVICE_AUTH_URL": "https://login.example/", "service_auth_port": "tcp://10.0.0.1:80"}).check()


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ('token = "x"\n', "token", 1), ('# key\n\n"token" = "x"', "token", 3),
        ('[auth]\n# t\ntokn = "x"', "auth.tokn", 3), ('[Auth]\nToken = "x"', "Auth.Token", 2),
        ('[server]\nport = 1\n[server.auth]\nkey = "x"\n', "server.auth", 3), ('api_key="x"', "api_key", 1),
        ('auth = "x"', "auth", 1), ('[snaglist]\ntoken = "x"', "snaglist.token", 2),
        ('[snaglist.http]\ntoken = "x"', "snaglist.http", 1), ('auth.toke = "x"', "auth.toke", 1),
        ('[ auth ]\n\'api-key\' = "x"', "auth.api-key", 2), ("[security]\ntoken = 5", "security.token", 2),
        ('service = {token = "x"}', "service.token", 1), ("[[keys]]\na = 1", "keys", 1),
    ],
)  # fmt: skip
def test_keys_of_the_file_are_named_with_their_line(tmp_path: Path, text: str, name: str, line: int) -> None:
    file = tmp_path / "own.toml"
    file.write_text(text, encoding="utf-8")
    opened = Opened({"SERVICE_CONFIG": str(file)})
    with pytest.raises(ConfigurationError, match=rf"^{re.escape(f'{name} ({file} line {line})')}: no such setting; "):
        opened.check()
    with_key = Opened({"SERVICE_CONFIG": str(file), "SERVICE_TOKEN": KEY})
    with_key.check()
    assert [warning.split(":")[0] for warning in with_key.settings.warnings()] == [name]


@pytest.mark.parametrize(
    "text",
    ['[smtp]\ntoken = "x"', "[smtp.auth]\na = 1", '[my_plugin]\napi_key = "x"', "[server]\nprot = 1", 'token = ""',
     "keys = []", "[auth]\nenabled = false", '[database]\npassword = "x"', "[tags]\nlist = [1]"],
)  # fmt: skip
def test_keys_of_the_file_that_belong_elsewhere_or_say_nothing(tmp_path: Path, text: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(text, encoding="utf-8")
    opened = Opened({"SERVICE_CONFIG": str(file)})
    opened.check()
    assert len(opened.settings.warnings()) == 1


@pytest.mark.parametrize("name", ["auth.previous_token", "host.agent_token"])
def test_keys_that_are_none_by_themselves(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{name}: no key by itself; "):
        Opened({f"SERVICE_{name.upper().replace('.', '_')}": KEY}).check()


def test_all_of_them_are_named() -> None:
    with pytest.raises(ConfigurationError, match=r"^SERVICE_KEYS: .*; SERVICE_TOKENS: .*; token: "):
        Opened({"SERVICE_TOKENS": KEY, "SERVICE_KEYS": KEY}, token=KEY).check()


def test_a_line_that_cannot_be_told() -> None:
    assert line_of("", "token") == 0


def test_a_mounted_service_that_asks_nobody_who_he_is(fresh_data: Path) -> None:
    """With `identity` people are signed in by the host: there the key is not what keeps others out."""
    with pytest.raises(ConfigurationError, match=r"^token: no such setting"):
        create_wsgi({"token": KEY}, data=fresh_data)
    create_wsgi({"token": KEY}, data=fresh_data, identity=lambda request, application: None).close()
