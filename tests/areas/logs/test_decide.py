"""What a file is, given what is known: the rules as a table, without files and without a database."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.plugins.logs.identify.decide import Content, Decision, Elsewhere, Here, Place, decide

UNCHANGED, EMPTY, SAME, OTHER = Content.UNCHANGED, Content.NONE_READ, Content.SAME, Content.OTHER
NOWHERE = None
SOURCE: Any = object()  # no rule looks into it


def at(place: Place, *, complete: bool = False) -> Elsewhere:
    """Return a source elsewhere with content that the file shares."""
    return Elsewhere(SOURCE, place, complete)


@pytest.mark.parametrize(
    ("here", "elsewhere", "decision"),
    [
        pytest.param(None, NOWHERE, Decision.NEW, id="a file that nothing is known of"),
        pytest.param(Here(UNCHANGED), NOWHERE, Decision.UNCHANGED, id="not touched since it was read"),
        pytest.param(Here(SAME), NOWHERE, Decision.APPEND, id="a log that grew"),
        pytest.param(Here(SAME), at(Place.GONE), Decision.APPEND, id="a log that grew, and another that went away"),
        pytest.param(Here(EMPTY), NOWHERE, Decision.BEGIN, id="it was empty, now something is in it"),
        pytest.param(Here(EMPTY), at(Place.GONE), Decision.MOVED, id="an empty log that another was renamed to"),
        pytest.param(Here(Content.FIRST_EVENTS), NOWHERE, Decision.SHRUNK, id="cut down with an editor"),
        pytest.param(Here(OTHER), NOWHERE, Decision.DISPLACED, id="rotated: another file is here"),
        pytest.param(Here(OTHER), at(Place.GONE), Decision.DISPLACED, id="rotated, its source goes first"),
        pytest.param(Here(OTHER, followed=True), NOWHERE, Decision.NEW, id="rotated: what is here now is new"),
        pytest.param(Here(OTHER, followed=True), at(Place.GONE), Decision.MOVED, id="rotated: app.log.1 was app.log"),
        pytest.param(None, at(Place.GONE), Decision.MOVED, id="renamed, or compressed and the plain file removed"),
        pytest.param(None, at(Place.GONE, complete=True), Decision.MOVED, id="renamed, nothing more in it"),
        pytest.param(Here(OTHER, followed=True), at(Place.HERE), Decision.MOVED, id="an older log is back at its path"),
        pytest.param(None, at(Place.TAKEN_OVER), Decision.MOVED, id="a connector finds a log that was dropped"),
        pytest.param(None, at(Place.THERE), Decision.COPY, id="copied, and more written into the copy"),
        pytest.param(None, at(Place.THERE, complete=True), Decision.DUPLICATE, id="a copy beside its original"),
        pytest.param(Here(SAME, borrowed=True), NOWHERE, Decision.APPEND, id="a copy that is written on"),
        pytest.param(Here(SAME, borrowed=True), at(Place.THERE), Decision.COPY, id="a copy that was seen half made"),
    ],
)
def test_the_rules(here: Here | None, elsewhere: Elsewhere | None, decision: Decision) -> None:
    assert decide(here, elsewhere) is decision


heres = st.none() | st.builds(Here, st.sampled_from(Content), st.booleans(), st.booleans())
elsewheres = st.none() | st.builds(Elsewhere, st.just(SOURCE), st.sampled_from(Place), st.booleans())


@given(heres, elsewheres)
def test_it_asks_for_nothing_twice(here: Here | None, elsewhere: Elsewhere | None) -> None:
    """Once all was looked up there is an answer; before, it is the same one or a question."""
    answer = decide(here, elsewhere)
    assert answer is not Decision.LOOK
    assert (answer is Decision.DISPLACED) == (here is not None and here.content is OTHER and not here.followed)
    early = decide(here, None, looked=False)
    assert early is Decision.LOOK or early is answer


@given(heres, elsewheres)
def test_known_bytes_are_never_read_as_new_ones(here: Here | None, elsewhere: Elsewhere | None) -> None:
    answer = decide(here, elsewhere)
    if here is not None and here.content in (UNCHANGED, SAME) and not here.borrowed:
        assert answer in (Decision.UNCHANGED, Decision.APPEND)
    if answer in (Decision.NEW, Decision.BEGIN):
        assert elsewhere is None
    if answer in (Decision.MOVED, Decision.COPY, Decision.DUPLICATE):
        assert elsewhere is not None
