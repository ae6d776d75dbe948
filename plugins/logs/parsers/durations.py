"""How long a request took, in milliseconds: the unit stands in the text, else the format or the number tells it."""

import re

_DURATION = re.compile(
    r"(\d{1,15}(?:\.\d{1,15})?) ?(ns|[µμu]s(?:ecs?)?|micros|ms(?:ecs?)?|s(?:ec(?:ond)?s?)?)?", re.ASCII
)
_LONG = re.compile(r"(?:(\d{1,6})h)?(?:(\d{1,6})m)?(\d{1,6}(?:\.\d{1,12})?)s")  # as Go shows minutes
UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}


def milliseconds(value: object, whole: str = "ms", decimal: str = "s") -> float | None:
    """Return a duration given as number or text, None for none; the units are those of numbers without one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = value.strip() if isinstance(value, str) else repr(value)
    found = _DURATION.fullmatch(text)
    if found is not None:
        number, unit = found.groups()
        if unit:
            name = "s" if unit[0] == "s" else unit[:2] if unit[:2] in UNITS else "us"
        else:
            name = decimal if "." in number else whole
        return float(number) * UNITS[name]
    long = _LONG.fullmatch(text) if len(text) < 40 else None
    if long is not None:
        hours, minutes, seconds = long.groups()
        return (int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(seconds)) * 1000
    try:
        number_only = float(text)  # 1.2e-05
    except ValueError:
        return None
    return number_only * UNITS[decimal] if 0 <= number_only < 1e12 else None
