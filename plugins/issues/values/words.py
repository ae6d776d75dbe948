"""The words of a text, as a search compares them, and how the index of the database is given them.

A word is a run of letters and digits, with what joins such runs within a name, a number, an address: `web-1`,
`10.0.0.7`, `jo@example.com`. One of few parts is found by each of them too: `ORD-52045` by `52045`; of an address the
sides of its `@` are words like others. One of several parts finds longer words that begin with them. Case is folded.
"""

import re
from collections.abc import Iterable, Set
from functools import lru_cache

from snaglist.kernel import digest, key

MAX_WORD = 64  # characters that count of a word
MAX_WORDS = 200  # words that are kept of an event, the first ones
_WORD = re.compile(r"[^\W_](?:[\w.@-]*[^\W_])?")
_JOINS = re.compile(r"[_.@-]+")
_MOST_PARTS = 3
# Index words are of letters, digits and underscores alone, which no database takes apart, and longer than what MariaDB
# leaves out for being short or frequent. What else a word holds is written with an underscore.
_BEGIN = "__"
_WRITTEN = {"_": "__", "-": "_a", ".": "_b", "@": "_c"}
# MySQL and MariaDB leave out longer ones (`innodb_ft_max_token_size`): these are cut, and told apart by a digest.
_MAX_WRITTEN = 84
_MAX_HEAD = MAX_WORD + len(_BEGIN)


def words_of(text: str) -> list[str]:
    """Return the words of a text in its order, each once."""
    found: dict[str, None] = {}
    for word in _WORD.findall(key(text)):
        short = word[:MAX_WORD]
        found[short] = None
        if not short.isalnum():
            _add_parts(found, short)
            if short.count("@") == 1:
                for side in short.split("@"):
                    found[side.strip("_.-")] = None
                    _add_parts(found, side)
    found.pop("", None)
    return list(found)


def _add_parts(found: dict[str, None], word: str) -> None:
    parts = _JOINS.split(word)
    if len(parts) <= _MOST_PARTS:
        found.update(dict.fromkeys(parts))


def whole_words(text: str) -> list[str]:
    """Return the words of a text without their parts: what a search looks for."""
    return list(dict.fromkeys(word[:MAX_WORD] for word in _WORD.findall(key(text))))


def index_words(words: Iterable[str]) -> str:
    """Return words as the index of the database takes them."""
    return " ".join(map(index_word, words))


def index_word(word: str) -> str:
    """Return a word as the index of the database knows it."""
    return _BEGIN + word if word.isascii() and word.isalnum() else _written(word)


def index_prefix(word: str) -> str:
    """Return what the index words begin with of all words that begin with one; of a long one only its head counts."""
    return _spelled(word)[:_MAX_HEAD]


def index_begin(word: str) -> str | None:
    """Return what the index words begin with of longer words that begin with the parts of one; None without parts."""
    written = index_prefix(word)
    # What joins parts is written with an underscore.
    return None if word.isalnum() or len(written) == _MAX_HEAD else written + "_"


def has_word(words: Set[str], word: str) -> bool:
    """Tell whether index words have a word, or a longer one that begins with its parts."""
    begin = index_begin(word)
    return index_word(word) in words or (begin is not None and any(other.startswith(begin) for other in words))


@lru_cache(maxsize=8192)
def _written(word: str) -> str:
    spelled = _spelled(word)
    if len(spelled) <= _MAX_WRITTEN:
        return spelled
    return spelled[:_MAX_HEAD] + digest(word)[: _MAX_WRITTEN - _MAX_HEAD]


def _spelled(word: str) -> str:
    return _BEGIN + "".join(
        letter if letter.isascii() and letter.isalnum() else _WRITTEN.get(letter) or f"_x{ord(letter):x}_"
        for letter in word
    )
