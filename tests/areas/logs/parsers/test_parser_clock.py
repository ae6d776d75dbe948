"""Times: zones, missing years and dates, times that cannot be."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.kernel import times
from snaglist.plugins.logs.parsers.clock import FORMS, Clock

NOW = "2024-06-01 00:00:00"


def clock(zone: str = "UTC", modified_at: str = NOW, back: int = 0, *, bounded: bool = True) -> Clock:
    return Clock(zone, modified_at, NOW, back=back, bounded=bounded)


@pytest.mark.parametrize(
    ("form", "text", "time"),
    [
        ("iso", "2024-03-10T10:00:00", "2024-03-10 10:00:00"),
        ("iso", "2024-03-10 12:00:00,999999999 +02", "2024-03-10 10:00:00"),
        ("iso", "2024-03-10T05:30:00-0430", "2024-03-10 10:00:00"),
        ("iso", "2016-12-31T23:59:60Z", "2016-12-31 23:59:59"),
        ("slashed", "2024/03/10 10:00:00", "2024-03-10 10:00:00"),
        ("numeric", "5/18/24, 2:20:05:310 PM EDT", "2024-05-18 18:20:05"),
        ("numeric", "5/18/24, 12:20:05 AM", "2024-05-18 00:20:05"),
        ("numeric", "24/03/05 08:15:30", "2024-03-05 08:15:30"),
        ("numeric", "24/12/2023 20:10:40", "2023-12-24 20:10:40"),
        ("numeric", "24.12.2023 20:10:40", "2023-12-24 20:10:40"),
        ("named", "10/Oct/2023:13:55:36 +0200", "2023-10-10 11:55:36"),
        ("named", "05-Mar-2024 08:15:30 UTC", "2024-03-05 08:15:30"),
        ("named", "05-Mar-2024 08:15:30.250 CET", "2024-03-05 07:15:30"),
        ("ctime", "Fri Jul 05 10:42:29.902022 2019", "2019-07-05 10:42:29"),
        ("compact", "240305 081530", "2024-03-05 08:15:30"),
        ("compact", "20240131T101112Z", "2024-01-31 10:11:12"),
        ("day_clock", "20240305-22:15:29:606", "2024-03-05 22:15:29"),
        ("epoch", "1711447205.250719", "2024-03-26 10:00:05"),
        ("epoch", "1711447205250", "2024-03-26 10:00:05"),
        ("epoch", "1711447205250719", "2024-03-26 10:00:05"),
        ("epoch", "1711447205250719000", "2024-03-26 10:00:05"),
        ("syslog", "Nov  5 10:00:00", "2023-11-05 10:00:00"),
        ("month_day", "05-17 16:13:38", "2024-05-17 16:13:38"),
    ],
)
def test_forms(form: str, text: str, time: str) -> None:
    assert clock().read(form, text) == time


@pytest.mark.parametrize(
    "text",
    [
        "0000-00-00 00:00:00", "2024-13-45 10:00:00", "0001-01-01T00:00:00", "9999-12-31T23:59:59Z",
        "1970-01-01T00:00:00Z", "2024-06-02T00:00:01Z", "2024-05-01 25:00:00", "2024-05-01 10:00:75",
    ],
)  # fmt: skip
def test_unusable_times_are_none(text: str) -> None:
    assert clock().iso(text) == ""


def test_a_day_in_the_future_is_usable() -> None:
    assert clock().iso("2024-06-01 23:59:59") == "2024-06-01 23:59:59"


def test_ts_10_the_gap_of_the_spring_change_uses_the_offset_before() -> None:
    assert clock("Europe/Berlin").iso("2023-03-26T02:41:10") == "2023-03-26 01:41:10"
    assert clock("Europe/Berlin").iso("2023-03-26T12:41:10") == "2023-03-26 10:41:10"


def test_an_unknown_zone_is_the_zone_of_the_source() -> None:
    assert clock("Asia/Shanghai").iso("2024-05-01 08:00:00 XYZ") == "2024-05-01 00:00:00"
    assert Clock("Nowhere/Land", NOW, NOW).iso("2024-05-01 08:00:00") == "2024-05-01 08:00:00"


def test_years_step_at_new_year_and_not_at_a_line_out_of_order() -> None:
    found = clock(modified_at="2024-01-02 00:10:00")
    stamps = ["Dec 31 23:59:58", "Jan  1 00:00:03", "Dec 31 23:59:59", "Jan  1 00:00:04"]
    assert [found.read("syslog", stamp)[:10] for stamp in stamps] == [
        "2023-12-31", "2024-01-01", "2023-12-31", "2024-01-01"
    ]  # fmt: skip


def test_days_step_at_midnight_and_not_at_a_line_out_of_order() -> None:
    found = clock(modified_at="2024-01-02 00:10:00")
    stamps = ["23:59:59", "00:00:01", "23:59:59", "00:00:02"]
    assert [found.read("time", stamp)[:10] for stamp in stamps] == [
        "2024-01-01", "2024-01-02", "2024-01-01", "2024-01-02"
    ]  # fmt: skip


def test_29_february_belongs_to_a_leap_year() -> None:
    assert clock(modified_at="2023-05-01 00:00:00").read("syslog", "Feb 29 10:00:00") == "2020-02-29 10:00:00"


@given(
    st.datetimes(min_value=datetime(1975, 1, 1), max_value=datetime(2024, 5, 31)),
    st.integers(min_value=-14 * 60, max_value=14 * 60),
)
def test_offsets_are_exact(moment: datetime, minutes: int) -> None:
    local = moment.replace(microsecond=0, tzinfo=timezone(timedelta(minutes=minutes)))
    assert clock("Asia/Tokyo").iso(local.isoformat()) == local.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def test_no_step_goes_beyond_the_last_change_of_the_file() -> None:
    found = clock(modified_at="2024-01-02 00:10:00")
    assert [found.read("syslog", stamp)[:7] for stamp in ("Dec 31 10:00:00", "Jul  1 10:00:00")] == [
        "2023-12", "2023-07"
    ]  # fmt: skip


def test_steps_of_the_sample_date_the_first_stamp() -> None:
    scratch = Clock("UTC", "2024-01-02 00:10:00", NOW, bounded=False)
    stamps = ["Dec 31 10:00:00", "Jul  1 10:00:00", "Jan  2 00:00:00"]
    for stamp in stamps:
        scratch.read("syslog", stamp)
    found = clock(modified_at="2024-01-02 00:10:00", back=scratch.steps_back())
    assert [found.read("syslog", stamp)[:4] for stamp in stamps] == ["2022", "2023", "2024"]


YEARS = st.sampled_from(["0000", "0001", "1970", "2024", "9999"])
NUMBERS = st.integers(0, 99).map("{:02d}".format)
DAYTIMES = st.builds("{}:{}:{}".format, NUMBERS, NUMBERS, NUMBERS)
OFFSETS = st.sampled_from(["", "Z", "+23:59", "-23:59", "+99:99", " -1400", " CET", " Asia/Tokyo", " ../x/y", " XYZ"])
STAMPS = (
    st.builds("{}-{}-{}T{}{}".format, YEARS, NUMBERS, NUMBERS, DAYTIMES, OFFSETS)
    | st.builds("{}/{}/{} {}{}".format, YEARS, NUMBERS, NUMBERS, DAYTIMES, OFFSETS)
    | st.builds("{}/{}/{} {} {}".format, NUMBERS, NUMBERS, YEARS | NUMBERS, DAYTIMES, st.sampled_from(["AM", "PM"]))
    | st.builds("{}/Dec/{}:{} {}".format, NUMBERS, YEARS, DAYTIMES, OFFSETS)
    | st.builds("Fri Jan {} {} {}".format, NUMBERS, DAYTIMES, YEARS)
    | st.builds("{} {} {}".format, st.sampled_from(["Jan", "Dec", "Feb"]), NUMBERS, DAYTIMES)
    | st.builds("{}-{} {}".format, NUMBERS, NUMBERS, DAYTIMES)
    | st.builds("{}{}{}-{}".format, YEARS, NUMBERS, NUMBERS, DAYTIMES)
    | st.builds("{}{}{}T{}{}{}Z".format, *[YEARS, *[NUMBERS] * 5])
    | st.floats().map(str)
    | st.text(max_size=30)
)


@given(
    st.lists(st.tuples(st.sampled_from(sorted(FORMS)), STAMPS), max_size=8),
    st.sampled_from(["UTC", "Asia/Tokyo", "America/Los_Angeles", "Nowhere/Land"]),
    st.sampled_from([times.FIRST, times.LAST, "1970-01-01 00:00:00", "9999-12-31 12:00:00", NOW]),
    st.integers(0, 400),
    st.booleans(),
)
def test_any_stamp_is_a_time_or_none(
    stamps: list[tuple[str, str]], zone: str, modified_at: str, back: int, bounded: bool
) -> None:
    """The first and the last year with an offset, a file of another age, text that is no stamp at all."""
    found = Clock(zone, modified_at, NOW, back=back, bounded=bounded)
    for form, text in stamps:
        time = found.read(form, text)
        assert time == "" or (times.is_time(time) and "1971" <= time <= found.latest)
    assert found.steps_back() >= 0


def test_stamps_that_reach_the_last_year_have_no_time_there() -> None:
    """New year by new year, in a sample that nothing bounds."""
    found = clock(bounded=False)
    for _ in range(8_100):
        found.read("syslog", "Jul  1 23:59:59")
        found.read("syslog", "Jan  1 00:00:00")
    assert found.read("syslog", "Dec 31 23:59:59") == ""
    assert found.read("time", "23:59:59") == "" == found.read("time", "00:00:00")
    assert found.iso("2024-03-10 10:00:00") == "2024-03-10 10:00:00"
