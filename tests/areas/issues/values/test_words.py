"""Words of texts, as searches compare them and as the index of the database has them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.plugins.issues.search.words import read_terms
from snaglist.plugins.issues.values.words import index_prefix, index_word, whole_words, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Order ORD-52045 failed", ["order", "ord-52045", "ord", "52045", "failed"]),
        ("from 10.0.0.7:5432", ["from", "10.0.0.7", "5432"]),
        ("jo@example.com", ["jo@example.com"]),
        (
            "martha.quinn@brightmail.test",
            ["martha.quinn@brightmail.test", "martha.quinn", "martha", "quinn", "brightmail.test", "brightmail"],
        ),
        ("GRÖSSE Straße", ["grösse", "strasse"]),
        ("(a), -b- _c_ ...", ["a", "b", "c"]),
    ],
)
def test_words_of_a_text(text: str, words: list[str]) -> None:
    assert set(words) <= set(words_of(text))
    assert whole_words(text) == [word for word in words if word in whole_words(text)]


@given(st.text(max_size=80), st.text(max_size=80))
def test_index_words_differ_as_words_do(one: str, other: str) -> None:
    for first in words_of(one):
        written = index_word(first)
        assert written.isascii() and written.replace("_", "a").isalnum()
        assert len(written) <= 84, "MySQL and MariaDB leave it out"
        for second in words_of(other):
            assert (written == index_word(second)) == (first == second)
            assert index_word(second).startswith(index_prefix(first)) or not second.startswith(first)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("timeout 52045", [("word", "timeout", False), ("word", "52045", False)]),
        ('"gateway timeout" -payment', [("phrase", "gateway timeout", False), ("word", "payment", True)]),
        (
            'value:"web-3" user:jo stack:charge',
            [("value", "web-3", False), ("user", "jo", False), ("stack", "charge", False)],
        ),
        ("5204* ab*", [("prefix", "5204", False), ("word", "ab*", False)]),
        ('-user:"Jo Doe"', [("user", "Jo Doe", True)]),
        ('half "open', [("word", "half", False), ("word", "open", False)]),
        ("a , -", [("word", "a", False)]),
        ("#52045 -#7", [("word", "52045", False), ("word", "7", True)]),
        ('"order #52045" # C#', [("phrase", "order #52045", False), ("phrase", "C#", False)]),
        ("“gateway timeout” ‘of cards’", [("phrase", "gateway timeout", False), ("phrase", "of cards", False)]),
        ("value:“52045” can’t", [("value", "52045", False), ("phrase", "can’t", False)]),
        ("martha.quinn", [("word", "martha.quinn", False)]),
        ("order=52045", [("phrase", "order=52045", False)]),
    ],
)
def test_the_text_of_a_search(text: str, terms: list[tuple[str, str, bool]]) -> None:
    assert [(term.kind, term.text, term.without) for term in read_terms(text)] == terms
