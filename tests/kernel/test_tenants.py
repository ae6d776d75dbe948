"""Ids and tenant names of applications."""

import re

from hypothesis import given
from hypothesis import strategies as st

from snaglist.kernel.applications import MAX_TENANT, slug, tenant_name

slugs = st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)*", fullmatch=True).filter(lambda text: len(text) <= 64)
prefixes = st.from_regex(r"[a-z0-9_]{1,32}", fullmatch=True)


@given(st.text())
def test_a_slug_holds_plain_characters_only(name: str) -> None:
    made = slug(name)
    assert re.fullmatch(r"([a-z0-9]+(-[a-z0-9]+)*)?", made)
    assert slug(made) == made


def test_slugs_of_the_contract() -> None:
    assert slug("Customer Portal") == "customer-portal"
    assert slug("  --A__b!!C--") == "a-b-c"
    assert slug("!!!") == ""
    assert slug("Ärger") == "rger"


@given(prefixes, slugs, slugs)
def test_tenant_names_never_collide(prefix: str, one: str, other: str) -> None:
    names = {tenant_name(prefix, one), tenant_name(prefix, other)}
    assert len(names) == (1 if one == other else 2)
    assert all(len(name) <= MAX_TENANT and re.fullmatch(r"[a-z0-9_]+", name) for name in names)


@given(prefixes, slugs)
def test_no_application_has_the_name_of_the_registry(prefix: str, application: str) -> None:
    assert tenant_name(prefix, application) != f"{prefix}_registry"


def test_long_names() -> None:
    """Two ids of 64 characters that differ in the last one."""
    one, other = (tenant_name("app_", "a" * 63 + last) for last in "xy")
    assert one != other
    assert len(one) == len(other) == 63
    assert one[:47] == "app_" + "a" * 41 + "__"
    assert tenant_name("app_", "customer-portal") == "app_customer_portal"
