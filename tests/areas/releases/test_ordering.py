"""The order of releases, and what it decides: whether a fixed issue is back."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.kernel import times
from snaglist.plugins.releases.ordering import compare, parse_version

# Each is older than the next; the pre-releases are the example of semver.org.
RISING = [
    "0.9.10", "v1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "v1.0.0-beta.11",
    "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "v1.10.0", "2.0.0",
]  # fmt: skip


def test_semantic_versions_are_in_order() -> None:
    versions = [parse_version(text) for text in RISING]
    assert None not in versions
    for older, newer in pairwise(versions):
        assert older < newer and not newer < older and older != newer
    assert parse_version("v2.0.0") == parse_version("2.0.0+build.7")


@pytest.mark.parametrize(
    "text", ["", "main", "1.0", "1", "1.0.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "4f2a9c1", "20240301"]
)
def test_other_names_are_no_versions(text: str) -> None:
    assert parse_version(text) is None


_NUMBERS = st.integers(0, 2**40)
_PARTS = st.one_of(_NUMBERS.map(str), st.from_regex(r"[a-z-][0-9a-z-]{0,5}", fullmatch=True))
_VERSIONS = st.builds(
    lambda core, before: ".".join(map(str, core)) + (f"-{'.'.join(before)}" if before else ""),
    st.tuples(_NUMBERS, _NUMBERS, _NUMBERS),
    st.lists(_PARTS, max_size=4),
)


@given(_VERSIONS, _VERSIONS, _VERSIONS)
def test_the_order_is_total(a: str, b: str, c: str) -> None:
    one, two, three = parse_version(a), parse_version(b), parse_version(c)
    assert one is not None and two is not None and three is not None
    assert (one < two) + (one == two) + (two < one) == 1
    if one <= two and two <= three:
        assert one <= three


@given(st.text(max_size=30))
def test_any_name_is_parsed_or_none(text: str) -> None:
    parse_version(text)


def order(shop: Any, one: str, other: str, environment: str = "production") -> int | None:
    call = shop.client.service.call()
    with call.transaction(write=False):
        return compare(call, one, other, environment)


@pytest.mark.servers
def test_names_that_are_no_versions_are_ordered_by_their_deploys(shop: Any) -> None:
    shop.deploy("spring", deployed_at="2026-01-01 00:00:00")
    shop.deploy("summer", deployed_at="2026-06-01 00:00:00")
    shop.deploy("summer", "staging", deployed_at="2025-01-01 00:00:00")
    shop.deploy("spring", "staging", deployed_at="2025-05-01 00:00:00")
    shop.deploy("autumn", "testing", deployed_at="2026-09-01 00:00:00")
    assert order(shop, "spring", "summer") == -1
    assert order(shop, "summer", "spring", "staging") == -1
    assert order(shop, "summer", "spring", "elsewhere") == 1  # where both were deployed last
    assert order(shop, "autumn", "summer") == 1
    assert order(shop, "autumn", "winter") is None
    assert order(shop, "winter", "winter") == 0
    assert order(shop, "v10.0.0", "v9.0.0") == 1
    assert order(shop, "v10.0.0", "summer") is None


@pytest.mark.parametrize(("fix", "older", "newer"), [("v2.0.0", "v1.9.0", "v2.0.0"), ("summer", "spring", "autumn")])
def test_51_an_event_of_an_older_release_brings_nothing_back(shop: Any, fix: str, older: str, newer: str) -> None:
    for month, name in enumerate(("spring", "summer", "autumn"), 1):
        shop.deploy(name, deployed_at=f"2026-{month:02}-01 00:00:00")
    issue_id = shop.push("Disk full", release=older, occurred_at=times.add(times.now(), seconds=-60))
    assert shop.client.post("issue-status", {"id": issue_id, "status": "fixed", "release": fix}).status == 200
    later = times.add(times.now(), seconds=60)
    shop.push("Disk full", release=older, occurred_at=later)
    assert shop.issue(issue_id)["data"]["status"] == "fixed"
    shop.push("Disk full", release=newer, occurred_at=later)
    assert shop.issue(issue_id)["data"]["status"] == "reoccurred"
    assert newer in shop.issue(issue_id)["status_history"][0]["note"]
