"""Names in lists of the configuration that nothing has."""

from pathlib import Path
from typing import Any

import pytest

from snaglist.plugins.system.warnings import config_warnings
from snaglist.testing import Client, running_service

AREAS = "there are access_analytics, alerting, ingest, releases, tracker"
HOST = "no host name; it has no scheme, port or *: logs.example.com"
SEVERITIES = "must be a list of EMERGENCY, ALERT, CRITICAL, ERROR, WARNING, NOTICE, INFO, DEBUG; the default is used"


@pytest.mark.parametrize(
    ("key", "value", "operator", "anybody"),
    [
        ("plugins.enabled", ["alerting", "trackr"], f"'trackr' is no optional area; {AREAS}",
         "entry 2 is no optional area"),
        ("plugins.enabled", ["issues"], f"'issues' is no optional area; {AREAS}", "entry 1 is no optional area"),
        ("plugins.disabled", ["Access.Analytics", "relases"], f"'relases' is no optional area; {AREAS}",
         "entry 2 is no optional area"),
        ("plugins.disabled", ["issues"], f"'issues' is no optional area; {AREAS}", "entry 1 is no optional area"),
        *(("server.allowed_hosts", ["a.example", "::1", "[::1]", "auto", unfit], f"'{unfit}' is {HOST}",
           "entry 5 is no host name") for unfit in ("https://a.example", "a.example:80", "*.a.example")),
        ("ingestion.default_severities", ["error", "EROR"], SEVERITIES, SEVERITIES),
        ("ingestion.default_severities", [], SEVERITIES, SEVERITIES),
        ("tracker.api_key_hosts", ["a.example", "https://a.example"],
         *["must be a list of hosts like gitlab.example.com or gitlab.example.com:8443; the default is used"] * 2),
        ("access.trusted_proxies", ["10.0.0.0/8", "proxy"],
         *["must be a list of networks like 10.0.0.0/8; the default is used"] * 2),
    ],
)  # fmt: skip
def test_a_name_that_there_is_not(tmp_path: Path, key: str, value: Any, operator: str, anybody: str) -> None:
    """The operator reads what was written and what is possible; health, which anybody may ask, only where it stands."""
    with running_service(tmp_path / "data", jobs=False, **{key.replace(".", "__"): value}) as service:
        assert config_warnings(service, told=True) == [f"{key}: {operator}"]
        assert Client(service).get("health").json["config_warnings"] == [f"{key}: {anybody}"]


def test_names_that_there_are(tmp_path: Path) -> None:
    lists = {
        "plugins__enabled": ["alerting"], "plugins__disabled": ["TRACKER"],
        "ingestion__default_severities": ["error", "DEBUG"], "server__allowed_hosts": ["*", "A.example.", "127.0.0.1"],
        "access__trusted_proxies": ["10.0.0.1"],
    }  # fmt: skip
    with running_service(tmp_path / "data", jobs=False, **lists) as service:
        assert config_warnings(service, told=True) == []
        assert Client(service).get("ingestion-settings").json["defaults"] == ["ERROR", "DEBUG"]


@pytest.mark.parametrize(
    ("token", "previous", "named"),
    [
        ("a-key-of-the-tests-0123456789", "", []), ("short", "", ["auth.token"]),
        (" fifteen-letter ", "", ["auth.token"]),
        ("a-key-of-the-tests-0123456789", "the-old-key-of-yesterday", ["auth.previous_token"]),
        ("short", "the-old-key-of-yesterday", ["auth.token", "auth.previous_token"]),
    ],
)  # fmt: skip
def test_keys_are_warned_about(tmp_path: Path, token: str, previous: str, named: list[str]) -> None:
    keys = {"auth__token": token, "auth__previous_token": previous}
    with running_service(tmp_path / "data", jobs=False, **keys) as service:
        assert [warning.split(":")[0] for warning in config_warnings(service)] == named
