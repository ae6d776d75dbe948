"""Which parts of a word are values: ids and hashes go, digits that belong to a name stay."""

import re

PLACEHOLDER = "<*>"


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


# Words that are followed by a number as part of their name, whatever its length.
_NUMBERED = word_set("""
    aes amd arm ascii base bit blake char cp crc ecdsa ed es float http hs iec ieee int ip ipv iso jis jsr latin lz md
    mips mp ps rfc rs rsa sha simd sse tls uint utf win x xxh
""")
_HEX = re.compile(r"(?=[A-Fa-f]*\d)[0-9A-Fa-f]{7,}\Z", re.ASCII)
_DIGIT_RUN = re.compile(r"\d+")
_TRAILING = re.compile(r"(\D+?)(\d{2,})\Z")
_CHANGES = re.compile(r"(?<=\d)(?=\D)|(?<=\D)(?=\d)")
_LONG_TOKEN = 24
_RANDOM_TOKEN = 14
_RUN = re.compile(r"[a-z]+|[A-Z]+|\d+", re.ASCII)


def is_id(word: str) -> bool:
    """Tell whether a word without separators is an id rather than a name.

    It looks at the kind of each character only, never at which digit stands there.
    """
    if word.isdigit():
        return True
    if len(word) >= _RANDOM_TOKEN and is_random(word):
        return True
    digits = sum(map(str.isdigit, word))
    if not digits:
        return False
    if word[0].isdigit():
        return True
    if _HEX.match(word) and (digits > 1 or len(word) > 8):
        return True
    if digits < 3:
        return False
    mixed = not (word.islower() or word.isupper())
    return (len(word) >= _LONG_TOKEN and mixed) or len(_CHANGES.findall(word)) >= 3


def is_random(word: str) -> bool:
    """Tell whether capitals, small letters and digits change as often as they do by chance, not as in `CamelCase`."""
    return not (word.islower() or word.isupper()) and len(_RUN.findall(word)) * 2 > len(word)


def mask_part(part: str) -> str:
    """Mask one part of a name: letters and digits without a separator."""
    if not part or (part.isalpha() and (len(part) < _RANDOM_TOKEN or not is_random(part))):
        return part
    found = _TRAILING.match(part)
    if found:
        letters = found[1]
        if letters.lower() in _NUMBERED and len(found[2]) < 6:
            return part
        if len(letters) == 1 or (len(letters) < 5 and letters.isupper() and len(found[2]) > 2):
            return PLACEHOLDER
        if letters.isalpha() and not (_HEX.match(part) and len(part) - len(letters) > 1):
            return letters + PLACEHOLDER
    return PLACEHOLDER if is_id(part) else part


def mask_name(name: str) -> str:
    """Mask a name whose parts are joined by `_`; two numbers in one name make the whole an id."""
    if "_" not in name:
        return mask_part(name)
    parts = name.split("_")
    if any(part.lstrip("-").isdigit() for part in parts) and len(_DIGIT_RUN.findall(name)) > 1:
        first = parts[0].rstrip("0123456789").lower()
        if first not in _NUMBERED:
            return PLACEHOLDER
    return "_".join(mask_part(part.lstrip("-")) for part in parts)


def mask_code(code: str) -> str:
    """Mask capitals and numbers joined by hyphens, such as an order or article number."""
    prefix = code.partition("-")[0]
    return f"{prefix}-{PLACEHOLDER}" if prefix.lower() in _NUMBERED else PLACEHOLDER
