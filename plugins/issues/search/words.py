"""The text of a search, word by word: `timeout "gateway timeout" 5204* -payment value:"52045" user:jo stack:charge`.

Quotation marks that a phone or an office program made curly are read as straight ones, and `#52045` as `52045`.
"""

import re
from dataclasses import dataclass

from snaglist.kernel import Invalid, key
from snaglist.plugins.issues.values.words import whole_words

MAX_TERMS = 20
LEAST_PREFIX = 3  # letters in front of a `*`
WORD, PREFIX, PHRASE, VALUE, USER, STACK = KINDS = ("word", "prefix", "phrase", "value", "user", "stack")
SAID = (WORD, PREFIX, PHRASE)  # what may stand anywhere in a text
_TERM = re.compile(r'(-?)(?:(value|user|stack):)?("[^"]*"|[^\s"]+(?:"[^"\s]*)*)')
_STRAIGHT = str.maketrans(dict.fromkeys("“”„‟", '"'))
_SINGLE = re.compile(r"(?<!\w)‘([^‘’]*)’(?!\w)")  # not the ’ of can’t
_NUMBER_SIGN = re.compile(r"^#+(?=\w)")


@dataclass(frozen=True, slots=True)
class Term:
    """One thing that a search wants, or with `without` does not want.

    `text` is as it was written, `words` are those of the index that it holds.
    """

    kind: str
    text: str
    words: tuple[str, ...]
    without: bool = False

    @property
    def folded(self) -> str:
        """The text as texts are compared."""
        return key(" ".join(self.text.split()))

    def shown(self) -> dict[str, object]:
        """Return the term as answers show it."""
        return {"kind": self.kind, "text": self.text, "without": self.without}


def read_terms(text: str) -> list[Term]:
    """Return the terms of a text; Invalid when there are too many."""
    terms = [term for found in _TERM.finditer(_straight(text)) if (term := _term(*found.groups())) is not None]
    if any(term.words for term in terms):  # then signs that stand alone say nothing
        terms = [term for term in terms if term.words]
    if len(terms) > MAX_TERMS:
        raise Invalid(f"q: at most {MAX_TERMS} words; put a sentence in quotes")
    return list(dict.fromkeys(terms))


def _straight(text: str) -> str:
    return _SINGLE.sub(r'"\1"', text).translate(_STRAIGHT)


def _term(minus: str, named: str | None, written: str) -> Term | None:
    quoted = len(written) > 1 and written[0] == written[-1] == '"'
    text = written[1:-1].strip() if quoted else _NUMBER_SIGN.sub("", written)
    if not text:
        return None
    if named:
        return Term(named, text, tuple(whole_words(text)), bool(minus))
    if not quoted and text.endswith("*"):
        words = whole_words(text)
        if len(words) == 1 and len(words[0]) >= LEAST_PREFIX:
            return Term(PREFIX, text.rstrip("*"), tuple(words), bool(minus))
    words = whole_words(text)
    kind = WORD if len(words) < 2 and (not words or words[0] == key(text).strip(".,;:!?*()[]{}<>'=")) else PHRASE
    return Term(kind, text, tuple(words), bool(minus))
