"""What is taken out of texts: values under the names of secrets, in whatever notation, and numbers of cards."""

import pytest

from snaglist.plugins.issues.events import AccessInfo, Event, ExceptionInfo, Frame
from snaglist.plugins.issues.preparing import REDACTED_KEYS, redact
from snaglist.plugins.issues.redaction import CARD, EMAIL, Redaction

R = "[redacted]"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("password=hunter2 for jo", f"password={R} for jo"),
        ("password: \"a b\" 'c'", f"password: \"{R}\" 'c'"),
        ("{'password': b'hunter2', 'n': 1}", f"{{'password': '{R}', 'n': 1}}"),
        ("password='it''s' n=1", f"password='{R}' n=1"),
        ("password='a\\'b' n=1", f"password='{R}' n=1"),
        ('"password" => "a", :token=>"b"', f'"password" => "{R}", :token=>"{R}"'),
        ("[password] => hunter2\n[n] => 1", f"[password] => {R}\n[n] => 1"),
        ('PASSWORD := "a"', f'PASSWORD := "{R}"'),
        ('{"authorization":["Bearer a"],"n":1}', f'{{"authorization":"{R}","n":1}}'),
        ('{"session":{"id":"a","of":[{"x":"b}"}]},"n":1}', f'{{"session":"{R}","n":1}}'),
        ('{"token": 12, "n": 1}', f'{{"token": "{R}", "n": 1}}'),
        ('{"password":["a b', f'{{"password":"{R}"'),
        ('{\\"password\\": \\"a\\\\\\"b\\", \\"n\\": 1}', f'{{\\"password\\": \\"{R}\\", \\"n\\": 1}}'),
        ('{\\\\\\"password\\\\\\": \\\\\\"a\\\\\\"}', f'{{\\\\\\"password\\\\\\": \\\\\\"{R}\\\\\\"}}'),
        ('<soap:password type="text">a b</soap:password>', f'<soap:password type="text">{R}</soap:password>'),
        ('password: Some("a b"), n: 1', f"password: {R}, n: 1"),
        ("password=p(a)w n=1", f"password={R} n=1"),
        ("run --password a --n 1", f"run --password {R} --n 1"),
        ("db_password=a clientSecret=b DB_PASSWORD: c", f"db_password={R} clientSecret={R} DB_PASSWORD: {R}"),
        ("Authorization: ApiKey abc n", f"Authorization: {R} n"),
        ('Authorization: Digest username="jo", response="a"', f"Authorization: {R}"),
        ('{\n  "password":\n      "a"\n}', f'{{\n  "password":\n      "{R}"\n}}'),
        ("Cookie: a=b; sid=c\nn", f"Cookie: {R}\nn"),
        ('{"name":"Authorization","value":"Bearer a"}', f'{{"name":"Authorization","value":"{R}"}}'),
        ("GET /x?token=a&n=1", f"GET /x?token={R}&n=1"),
        ("next=%2Fx%3Ftoken%3Dabc", f"next=%2Fx%3Ftoken%3D{R}"),
    ],
)
def test_values_under_names(text: str, shown: str) -> None:
    redaction = Redaction(REDACTED_KEYS, [])
    assert redaction.finds(text)
    assert redaction.text(text) == shown


@pytest.mark.parametrize(
    "text",
    ["Unexpected token [ at line 3: [ x", "max_tokens=5", "session expired; user=7", "secretary: jo", "token count: 7"],
)
def test_other_texts_stay(text: str) -> None:
    assert Redaction(REDACTED_KEYS, []).text(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Card 4111 1111 1111 1111 refused", f"Card {R} refused"),
        ("Order 7 4111-1111-1111-1111 12/27", f"Order 7 {R} 12/27"),
        ("4111111111111111 123 5500000000000004", f"{R} 123 {R}"),
        ("3782 822463 10005", R),
        ("4111111111111112", "4111111111111112"),
        ("1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1", "1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1"),
    ],
)
def test_numbers_of_cards(text: str, shown: str) -> None:
    assert Redaction([], [CARD]).text(text) == shown


def test_secrets_are_taken_out_of_all_texts_of_an_event() -> None:
    texts = {name: f"at jo@example.com {name}" for name in ("message", "context", "stack", "template", "server_name")}
    raised = ExceptionInfo("Of jo@example.com", "to jo@example.com", [Frame("f", "/of/jo@example.com/a.py", 3)])
    access = AccessInfo("GET", "/of/jo@example.com", 500, user="jo@example.com")
    event = Event(**texts, exceptions=[raised], access=access, tags=["jo@example.com"], user="jo@example.com")
    redact(event, Redaction([], [EMAIL]))
    assert "jo@" not in repr(event) and raised.frames[0].file == f"/of/{R}/a.py"


@pytest.mark.parametrize("piece", ["token=[", '"token":"a\\"', "password=(", "cookie: a=b; ", '{"session":', "4111 "])
def test_long_texts_take_no_longer_than_they_are(piece: str) -> None:
    Redaction(REDACTED_KEYS, [CARD]).text(piece * (200_000 // len(piece)))
