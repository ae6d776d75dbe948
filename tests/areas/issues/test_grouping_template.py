"""The message template: what is masked, what is kept, and that it is stable."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snaglist.plugins.issues.grouping import path_template, template, templates
from snaglist.plugins.issues.grouping.frames import file_name, function_name
from snaglist.plugins.issues.grouping.names import mask_name
from snaglist.plugins.issues.grouping.thresholds import MESSAGE_LIMIT
from snaglist.plugins.issues.grouping.tokens import mask_token

HOSTILE = json.loads(Path(__file__).parents[2].joinpath("cases", "grouping-hostile.json").read_text("utf-8"))
UNITS = HOSTILE["units"]
MASKED = [
    ("took 12 ms", "took <*>"),
    ("took 1.5e-07 now", "took <*> now"),
    ("took 20417ms", "took <*>"),
    ("relay mx.example.org[2001:db8::1a]:25: lost", "relay <*>[<*>]:<*>: lost"),
    ("relay mx.example.org[192.0.2.7]:25: lost", "relay <*>[<*>]:<*>: lost"),
    ("rate for (smtp:2001:db8::1) seen", "rate for (smtp:<*>) seen"),
    ("no row with 'id'=5 here", "no row with <*>=<*> here"),
    ("key SHA256:pZ3kq9vNfLkKAAB/x+1 used", "key SHA256:<*> used"),
    ("opened for user anna(uid=5) by (uid=0)", "opened for user <*>(<*>) by (uid=<*>)"),
    ("log at 16/B374D848 of 7", "log at <*> of <*>"),
    ("died on line 11/12 of part 3", "died on line <*> of part <*>"),
    ("took 3 seconds to answer", "took <*> to answer"),
    ("offset -5 of 1,234.56", "offset <*> of <*>"),
    ("disk 99% full", "disk <*> full"),
    ("sent 18846 bytes (18.4 KB) in <1 sec", "sent <*> in <*>"),
    ("job 3f2504e0-4f89-41d3-9a0c-0305e82c3301 lost", "job <*> lost"),
    ("job {3F2504E0-4F89-41D3-9A0C-0305E82C3301} lost", "job <*> lost"),
    ("commit 9fceb02 broke", "commit <*> broke"),
    ("blob d41d8cd98f00b204e9800998ecf8427e bad", "blob <*> bad"),
    ("at 0xDEADBEEF now", "at <*> now"),
    ("from 10.0.0.1:8080 refused", "from <*> refused"),
    ("from [2001:db8::1]:443 refused", "from <*> refused"),
    ("from fe80::1%eth0 refused", "from <*> refused"),
    ("from ::1 refused", "from <*> refused"),
    ("card 00:1A:2B:3C:4D:5E is down", "card <*> is down"),
    ("from db-3.fra.example.net:5432 refused", "from <*> refused"),
    ("from localhost refused", "from <*> refused"),
    ("mail to jane.doe+x@example.co.uk bounced", "mail to <*> bounced"),
    ("at 2024-05-01T10:00:00.123Z ended", "at <*> ended"),
    ("at Fri Jun 17 07:07:00 2005 ended", "at <*> ended"),
    ("at 10/Oct/2024:13:55:36 +0000 ended", "at <*> ended"),
    ("at 17 June 2005 ended", "at <*> ended"),
    ("at Sat, 3 September 2005 ended", "at <*> ended"),
    ("Monitor 3 of Marta 4 and Satellite 5", "Monitor <*> of Marta <*> and Satellite <*>"),
    ("at 9:41:03 a. m. | down", "at <*> | down"),
    ("open /var/lib/app/cache-17.db failed", "open <*> failed"),
    (r"open C:\Users\jane\notes.txt failed", "open <*> failed"),
    ("file 'a b' is gone", "file <*> is gone"),
    ('file "it\'s" is gone', "file <*> is gone"),
    ("file “a b” is gone", "file <*> is gone"),
    ("user=jane tries=3 done=False", "user=<*> tries=<*> done=<*>"),
    ("at=datetime.datetime(2024, 2, 9, tzinfo=datetime.timezone.utc) x=1", "at=<*> x=<*>"),
    ("got {'a': {'b': 1}} from peer", "got <*> from peer"),
    ("got User(id=5, name='x y') from peer", "got User(<*>) from peer"),
    ("got Token{78af589 Record{3b0 u0}} back", "got Token<*> back"),
    ("got <app.Order object at 0x7f00c0ffee00> back", "got <app.Order object at <*>> back"),
    ("ids 1, 2, 3 and 4 missing", "ids <*> missing"),
    ("delete item_12 item_7 item_900", "delete item_<*>"),
    ("where id in (1, 'a', NULL, ?) limit 5", "where id in (<*>) limit <*>"),
    ("insert into t values (1, 'a'), (2, 'b''c')", "insert into t values (<*>)"),
    ("class Foo$$Lambda$41/1190035432 failed", "class Foo$$Lambda failed"),
    ("Invalid user webmaster from 10.0.0.1", "Invalid user <*> from <*>"),
    ("session closed for user cyrus", "session closed for user <*>"),
    ("total 12.50 EUR", "total <*>"),
    ("article TS-4711 is sold out", "article <*> is sold out"),
    ("task_2017_0024_m_000003 done", "<*> done"),
    ("1 box and 1 entity of 1 batch", "<*> box and <*> entity of <*> batch"),
    ("3 classes, 1 bonus", "<*> class, <*> bonus"),
    ("Upstream answered 404 for order 12", "Upstream answered 404 for order <*>"),
    ("proxy replied with 502: try 3", "proxy replied with 502: try <*>"),
    ("query 9 returned 404 rows", "query <*> returned <*> row"),
    ("worker 3 exited with 137 after 4 s", "worker <*> exited with 137 after <*>"),
    ("worker 3 exited with 2 errors", "worker <*> exited with <*> error"),
    ("batch of shard 3 ms=511", "batch of shard <*> ms=<*>"),
    ("4 boxes and 7 entities of 2 batches", "<*> box and <*> entity of <*> batch"),
    ("freed 3 stale leases: done", "freed <*> stale lease: done"),
    ("12 parts are lost", "<*> part is lost"),
    ("1 part is lost", "<*> part is lost"),
    ("job 3 was stopped, disk 7 fails", "job <*> was stopped, disk <*> fail"),
    ("ticket kRz8mQwXe1TbLpVaYc is used up", "ticket <*> is used up"),
    ("nonce aGk3LxPz0QwErTyU== was seen", "nonce <*> was seen"),
    ("scan of holiday.png and plan_7.json is done", "scan of <*> is done"),
    ("stored as s3://depot-a/week/photo.jpeg", "stored as s3://<*>/week/<*>"),
    ("waits PT2.5S for P1DT3H", "waits <*> for <*>"),
    ("wheel v2.0.1-rc3 beside 4.1.0-SNAPSHOT for 1.2.3+build.9", "wheel <*> beside <*> for <*>"),
    ("visit of /deals?code=7&lang=en: gone", "visit of <*>: gone"),
    ("shards stock-1, bills-22, 3 left", "shards <*> left"),
    ("texts of pt_BR lack", "texts of <*> lack"),
    ("packed notes.json (3 MB)", "packed notes.json"),
    ("lane K-4711 is shut", "lane <*> is shut"),
    ("https://shop.example.com/ is slow", "https://<*> is slow"),
]
KEPT = [
    "Deadlock in facade feed",
    "charset utf8mb4 unknown",
    "python3 missing",
    "S3Exception raised by OAuth2Client",
    "sha256 and md5 and base64 differ",
    "Template {name} missing",
    "Route users/{id} {action} unknown",
    "java.lang.IllegalStateException thrown",
    "cannot load assets/main-settings.js",
    "Can't find child",
    "n/a and I/O and on/off",
    "std::string a::b fails",
    "No module named requests.adapters",
    "user session expired",
    "closed due to user request",
    "level=error in request",
    "status code 503 from upstream",
    "HTTP 404 for page",
    "exited with code 137",
    "SQLSTATE[40001]: Serialization failure",
    "error 1213 on server",
    "Unknown column 'orders.total'",
    "GET /checkout/cart failed",
    "GET /checkout/cart returned 503",
    "child exited on signal 11 (SIGSEGV)",
    "unit main: code=exited status=1/FAILURE",
    "mail status=deferred reason=timeout",
    "unit failed with result 'exit-code'.",
    "Cannot read properties of undefined (reading 'price')",
    "class AbstractHttpMessageConverterFactoryBean missing",
    "package.json and java.util.zip.ZipException",
    'host answered with code "421" again',
    'Notified event "cart.filled" to listener "Mail\\Sender::onFilled"',
    "padding= and marker== stay",
]


@pytest.mark.parametrize(("message", "expected"), MASKED)
def test_values_are_masked(message: str, expected: str) -> None:
    """Values become the placeholder and nothing of the fixed text behind them goes."""
    assert template(message) == expected


@pytest.mark.parametrize("message", KEPT)
def test_names_and_codes_are_kept(message: str) -> None:
    """Words, digits of names, classes, status and error codes stay."""
    assert template(message) == message


def test_trailing_context_is_split_off() -> None:
    """Trailing structures do not count, braces in a sentence are text."""
    forms = [
        'Mail bounced {"to":"a@example.com","tries":3} []',
        'Mail bounced {"n":1} {"request":"f00"}',
        "Mail bounced  ",
    ]
    assert {template(form) for form in forms} == {"Mail bounced"}
    assert template("Mail bounced " + '{"a": "' + "x" * 200_000) == "Mail bounced"


@pytest.mark.parametrize(
    "items",
    [
        "?", "?, ?", "?,?,?", "%s, %s", "%(id_1)s, %(id_2)s", ":id_0", ":id_0, :id_1, :id_12", "@p0, @p1", "@p0,@p11",
        "$1, $2::int", ":1, :2", "?1, ?2", "{0}, {1}", "#{id}, ${other}", "'a', 'b'", "'a'", "N'a', N'b'", "1, 2, 3",
        "7", "NULL, ?, 3", " ?, ? ", "\n  ?,\n  ?\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "words", ["select * from carts where id in {}", "delete from t where a = any {} and b", "values {}"]
)
def test_lists_of_any_length_and_style_are_one(words: str, items: str) -> None:
    assert template(words.format(f"({items})")) == words.format("(<*>)")


@pytest.mark.parametrize("items", ["open, closed", "select 7 from t", "my_column"])
def test_a_list_of_names_is_none_of_values(items: str) -> None:
    assert template(f"order by state in ({items})") != "order by state in (<*>)"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ('"Failed to mount volume" pod="a/b-1" volume="data"', "Failed to mount volume pod=<*> volume=<*>"),
        ('"Failed to mount volume"', "Failed to mount volume"),
        ("'Gate is stuck' gate=3", "Gate is stuck gate=<*>"),
        ("“Gate is stuck” gate=3", "Gate is stuck gate=<*>"),
        ('"Failed to mount \\"data-1\\" now" pod="a"', "Failed to mount <*> now pod=<*>"),
        ('"Gate is stuck" gate={"id": 3}', "Gate is stuck gate=<*>"),
        ('"anna" logged in', "<*> logged in"),
        ('"a.txt" and "b.txt" differ', "<*> differ"),
    ],
)
def test_a_message_in_quotes_is_the_message(message: str, expected: str) -> None:
    """A text that is all of a message, or all of it before pairs of keys and values, is no value."""
    assert template(message) == expected


def test_values_that_are_assigned_reach_to_their_closing_quote() -> None:
    said = 'sync broke err="cannot \\"{0}\\": \\"image \\\\\\"reg/{1}\\\\\\" is gone\\"" pod="{2}"'
    one, other = said.format("start", "a:1.2", "a-1"), said.format("stop it", "long-name/b:latest " * 20, "b-2")
    assert template(one) == template(other) == "sync broke err=<*>: <*> pod=<*>"
    assert template('x note="' + "far away " * 80 + '" y') == "x note=<*> y"


def test_a_bracket_in_a_quotation_opens_no_structure() -> None:
    """Quoted text is a value whatever is in it."""
    assert template('Import of "" rows by "=(" ended with ")" problems') == template(SENTENCE.format(1, 2, 3))


def test_a_long_message_of_blanks() -> None:
    assert template(" " * 600) == template(" " * 9000) == ""


def test_unicode_forms_are_equal() -> None:
    """Composed and decomposed text is one template."""
    assert template("Zahlung für Köln fehlt") == template("Zahlung fu\u0308r Ko\u0308ln fehlt")


def test_only_the_first_8_kib_count() -> None:
    """Equal beginnings are one template, an early difference separates."""
    words = "alpha beta gamma " * 20_000
    assert template(words + "x") == template(words + "y") and len(words) > MESSAGE_LIMIT
    assert template("other " + words) != template(words)


SENTENCE = "Import of {} rows by {} ended with {} problems"
VALUES: dict[str, st.SearchStrategy[str]] = {
    "number": st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False)).map(str),
    "uuid": st.uuids().map(str),
    "ip": st.ip_addresses(v=4).map(str),
    "ip6": st.ip_addresses(v=6).filter(lambda address: any(map(str.isdigit, str(address)))).map(str),
    "quoted": st.from_regex(r"'[A-Za-z0-9 .,:;!?{}()=/-]{0,40}'", fullmatch=True),
    "double": st.from_regex(r'"[A-Za-z0-9 .,:;!?{}()=/\'-]{0,40}"', fullmatch=True),
    "date": st.datetimes().map(str),
    "sha1": st.binary(min_size=20, max_size=20).map(bytes.hex).filter(lambda text: sum(map(str.isdigit, text)) > 1),
}


@pytest.mark.parametrize("kind", VALUES)
def test_any_value_of_a_kind_gives_one_template(kind: str) -> None:
    """Whatever the value, the sentence around it is the template."""

    @given(st.lists(VALUES[kind], min_size=3, max_size=3))
    @settings(max_examples=100)
    def check(values: list[str]) -> None:
        assert template(SENTENCE.format(*values)) == "Import of <*> row by <*> ended with <*> problem"

    check()


WORD = st.from_regex(r"[a-z]{3,12}", fullmatch=True).filter(lambda word: word not in ("localhost",))


@given(WORD, WORD)
def test_two_words_give_two_templates(one: str, other: str) -> None:
    """Words are kept, so different words never meet."""
    sentence = "Loading the {} of the page failed"
    assert (template(sentence.format(one)) == template(sentence.format(other))) == (one == other)


def forget() -> None:
    """Empty the memos, as in a new process."""
    for memo in (templates._known_message, templates._known_shape, templates._known_token, templates._known_line):
        memo.clear()
    templates._shapes.clear()


PIECES = st.sampled_from(HOSTILE["pieces"])
TEXTS = st.lists(st.tuples(PIECES, st.sampled_from(["", " ", " ", "0", "77"])), min_size=1, max_size=12).map(
    lambda parts: "".join(piece + glue for piece, glue in parts)
)


@given(TEXTS, st.randoms(use_true_random=False))
@settings(max_examples=800)
def test_memos_never_decide(text: str, dice: random.Random) -> None:
    """Cold and warm memos give the same template, also after messages that differ only in digits."""
    forget()
    cold = template(text)
    assert template(text) == cold
    forget()
    for digit in "1", "11", "123456":
        changed = "".join(digit if char in "0123456789" and dice.random() < 0.7 else char for char in text)
        template(changed)
    assert template(text) == cold


def test_processes_and_hash_seeds_agree() -> None:
    """The same message gives the same template in every process and for every hash seed."""
    program = (
        "import sys; from snaglist.plugins.issues.grouping import template\n"
        "print(*map(template, sys.stdin.read().splitlines()), sep='\\n')"
    )
    messages = [message for message, _ in MASKED] + KEPT
    for seed, order in (("0", 1), ("1", -1), ("random", 1)):
        done = subprocess.run(
            [sys.executable, "-c", program],
            input="\n".join(messages[::order]),
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "1"},
        )
        assert done.stdout.splitlines()[::order] == [template(message) for message in messages]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("form", ["{0}", "x {0}", "{0} end", "(x) {0} end"])
def test_hostile_messages_are_linear(unit: str, form: str) -> None:
    """200,000 hostile characters are keyed well under 0.2 s of CPU time."""
    message = form.format((unit * 200_000)[:200_000])

    start = time.process_time()
    template(message)
    assert time.process_time() - start < 0.2


ENTRIES: dict[str, Callable[[str], object]] = {
    "path": path_template,
    "route": lambda text: path_template("/" + text, "{id}"),
    "file": file_name,
    "windows": lambda text: file_name("C:\\" + text),
    "bundle": lambda text: file_name(f"https://a.example/{text}.js"),
    "function": lambda text: function_name(text, "a.py"),
    "script": lambda text: function_name(text, "a.js"),
    "token": lambda text: mask_token(text.replace(" ", "_")[:MESSAGE_LIMIT]),
    "name": lambda text: mask_name(text[:MESSAGE_LIMIT]),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_rule_is_linear(entry: str) -> None:
    """No rule for names, paths, URLs, files, functions or tokens is slow on hostile text."""
    slow = []
    for unit in UNITS:
        text = (unit * 200_000)[:200_000]
        start = time.process_time()
        ENTRIES[entry](text)
        if time.process_time() - start > 0.1:
            slow.append(unit)
    assert slow == []
