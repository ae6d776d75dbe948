"""Dates written with words or with three numbers: which part is the day, the month and the year."""

import re

from snaglist.plugins.logs.parsers.month_names import MONTHS

_PARTS = re.compile(r"\d+|[^\W\d_]+")
_DIGITS = re.compile(r"\d+", re.ASCII)


def two_digits(year: int) -> int:
    """Return the year that two digits stand for; others as they are."""
    return year + 2000 if year < 70 else year + 1900 if year < 100 else year


def read_date(text: str, order: str = "", late_year: str = "") -> tuple[int | None, int, int] | None:
    """Return year, month and day of a written date, the year None where none is written; None for no date.

    `order` is that of three numbers of which none is the year of four digits in front.
    """
    month, numbers = 0, []
    for part in _PARTS.findall(text):
        if part.isdigit():
            numbers.append(part)
        else:
            month = month or MONTHS.get(part.lower(), 0)
    if late_year:
        numbers.append(late_year)
    if month:
        return _with_month(month, numbers)
    if len(numbers) == 2:
        return None, int(numbers[0]), int(numbers[1])
    if len(numbers) != 3:
        return None
    values = {letter: int(number) for letter, number in zip(order or likely_order(text), numbers, strict=True)}
    if len(numbers[0]) == 4:
        values = {letter: int(number) for letter, number in zip("ymd", numbers, strict=True)}
    return two_digits(values["y"]), values["m"], values["d"]


def _with_month(month: int, numbers: list[str]) -> tuple[int | None, int, int] | None:
    if len(numbers) == 1:
        return None, month, int(numbers[0])
    if len(numbers) != 2:
        return None
    first, second = numbers
    if len(first) == 4:
        return int(first), month, int(second)
    return two_digits(int(second)), month, int(first)


def possible_orders(text: str) -> list[str]:
    """Return the orders in which three numbers are a date, the likely one first.

    With slashes the month comes first in the United States, with dots and dashes the day does, and two digits with
    dashes are a short ISO date.
    """
    numbers = _DIGITS.findall(text)
    if len(numbers) != 3 or len(numbers[0]) == 4:
        return []
    if len(numbers[2]) == 4:
        wanted: tuple[str, ...] = ("mdy", "dmy") if "/" in text else ("dmy", "mdy")
    elif text[text.index(numbers[0]) + len(numbers[0])] == ".":
        wanted = ("dmy", "ymd")
    elif text[text.index(numbers[0]) + len(numbers[0])] == "-" or int(numbers[0]) > 12:
        wanted = ("ymd", "dmy", "mdy")
    else:
        wanted = ("mdy", "dmy", "ymd")
    values = [int(number) for number in numbers]
    return [order for order in wanted if _is_possible(dict(zip(order, values, strict=True)))]


def _is_possible(values: dict[str, int]) -> bool:
    return 1 <= values["m"] <= 12 and 1 <= values["d"] <= 31


def likely_order(text: str) -> str:
    """Return the likely order of three numbers."""
    return next(iter(possible_orders(text)), "dmy")
