"""Failures that only the words of a message tell, and words that tell of none."""

import pytest

from snaglist.plugins.logs.parsers.words import by_words

# Each phrase twice, as unrelated programs write it.
PHRASES = {
    "CRITICAL": (
        "Kernel panic - not syncing: VFS", "panic: runtime error", "Out of memory: Killed process 31 (till)",
        "till invoked oom-killer: gfp_mask=0x1",
    ),
    "ERROR": (
        "blk_update_request: I/O error, dev sda", "pump: i/o error on port 7", "EXT4-fs error (device sda1): bad inode",
        "XFS (sda2): corruption detected", "till[7]: segfault at 0 ip 00", "Segmentation fault", "core dumped",
        "traps: till general protection fault", "Call Trace:", "Uncaught exception in pump",
        "Unhandled promise rejection", "Traceback (most recent call last):", "write: No space left on device",
        "disk full", "task pump:7 blocked for more than 120 seconds", "watchdog: soft lockup on CPU 3",
        "BUG: unable to handle page", "*** stack smashing detected ***", "double free or corruption",
        "process exited with code 3", "exit status 1", "child terminated by signal 9", "pump was killed by signal 11",
        "Assertion till->open failed", 'Exception in thread "main"', "ORA-00600: no rate", "TNS-12541: no listener",
        "Main process exited, code=dumped",
    ),
}  # fmt: skip
HARMLESS = (
    "status installed libgpg-error0:amd64", "finished without error", "no errors", "0 errors", "errors: 0",
    "SELECT error FROM jobs", "Started Error Reporting Service", "error_reporting is off", "GET /errors/7",
    "log_level=error", "exit status 0", "process exited with code 0", "open error.log", "",
)  # fmt: skip


@pytest.mark.parametrize(
    ("severity", "message"), [(severity, message) for severity, all_ in PHRASES.items() for message in all_]
)
def test_a_phrase_counts_wherever_it_stands(severity: str, message: str) -> None:
    assert by_words(message) == severity
    assert by_words(f"till 31: 7 of 9, {message}") == severity


@pytest.mark.parametrize("message", HARMLESS)
def test_names_labels_queries_and_negations_are_no_failures(message: str) -> None:
    assert by_words(message) == ""
