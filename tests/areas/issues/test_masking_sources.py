"""No rule for one kind of log: each rule about what stands between words serves two unrelated programs."""

import re

import pytest

from snaglist.plugins.issues.grouping import phrases, template
from snaglist.plugins.issues.grouping.tokens import mask_token

SOURCES = [
    ("oracle", "redo of 17-Jun-2005 is gone"),
    ("calendar", "moved to 17 June again"),
    ("cron", "next run on Sat, 3 September 2005 of all jobs"),
    ("openssl", "certificate expires on 17 June 2005 for good"),
    ("kernel", "rtc was set to Jun 17 07:07:00 by hand"),
    ("postfix", "queued since Jun 17 07:07:00 without success"),
    ("git", "commit of 4 Mar 2024 is not signed"),
    ("systemd", "timer elapses Fri 2024-05-03 again"),
    ("at", "job runs Tue 2024-05-07 for the first time"),
    ("outlook", "meeting at 9:41 AM is cancelled"),
    ("sql server", "backup began 9:41:03 PM and goes on"),
    ("postgresql", "standby is at 10:00:00 UTC behind"),
    ("ntpd", "clock was set to 10:00:00 CEST by hand"),
    ("wget", "Length: 11439 (11K) saved"),
    ("dd", "1048576 bytes (1.0 MB) copied"),
    ("nginx", "upstream took 12 seconds to answer"),
    ("docker", "pulled 12 MB of layers"),
    ("shop", "total is 12.50 EUR today"),
    ("bank", "limit of CHF 500 reached"),
    ("mysql", "slow: where id in (1, 2, NULL) limit 5"),
    ("sqlite", "insert into t values (1, ?), (2, NULL)"),
    ("hdfs", "asked to delete blk_12 blk_13 blk_14"),
    ("apt", "removing linux-5 linux-6 linux-7"),
    ("kubernetes", "evicted web-1, db-22, cache-3 from node"),
    ("elastic", "shards stock-1, bills-2 are red"),
    ("cron", "skipped jobs 1, 2 and 3 of today"),
    ("raid", "disks 1,2;3 are missing"),
    ("kafka", "partitions assigned [orders, mails] to member"),
    ("spring", "profiles are [web, cloud, test] now"),
    ("sshd", "Invalid user webmaster at login"),
    ("django", "login failed: unknown user maria"),
    ("pam", "session closed for user cyrus"),
    ("postgresql", "connection authorized as user report"),
]


@pytest.mark.parametrize("number", range(len(phrases._RULES)))
def test_a_rule_serves_two_unrelated_programs(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = phrases._RULES
    before = {text: phrases.mask_phrases(masked(text)) for _, text in SOURCES}
    monkeypatch.setattr(phrases, "_RULES", rules[:number] + rules[number + 1 :])
    served = {source for source, text in SOURCES if phrases.mask_phrases(masked(text)) != before[text]}
    assert len(served) >= 2, (rules[number][0].pattern, served)


def masked(text: str) -> str:
    return " ".join(map(mask_token, text.split()))


@pytest.mark.parametrize(
    ("source", "one", "other"),
    [
        ("block ids of a file system", "blk_-160899 lost", "blk_384 lost"),
        ("coordinates of a map", "tile_-3_12 lost", "tile_3_12 lost"),
        ("git", "1 file changed", "2 files changed"),
        ("eslint", "1 error and 0 warnings", "3 errors and 1 warning"),
        ("pytest", "1 test was skipped", "2 tests were skipped"),
    ],
)
def test_one_and_many_below_zero_and_above_are_alike(source: str, one: str, other: str) -> None:
    assert template(one) == template(other), source


@pytest.mark.parametrize("pattern", [r"password", r"keyboard", r"language", r"session", r"input"])
def test_no_rule_knows_the_words_of_one_program(pattern: str) -> None:
    assert not [rule for rule, _ in phrases._RULES if re.search(pattern, rule.pattern)]
