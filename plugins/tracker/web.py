"""JSON over HTTP to a tracker: always through the outbound guard, with failures told alike for all providers."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from snaglist.kernel import BadGateway, clip
from snaglist.plugins.system import MAX_ANSWER, Answer, JobCall
from snaglist.plugins.tracker.contract import AnswerTooLong, Opening, TrackerFailure
from snaglist.plugins.tracker.texts import cleaned, inside

LONGEST_PAUSE = 5.0  # a worker that sleeps keeps others waiting
MAX_PAUSES = 3
LONGEST_WAIT = 86_400.0
_MESSAGE = 200
_RESETS = (("x-ratelimit-reset", 1), ("ratelimit-reset", 1), ("x-ratelimit-requests-reset", 1000))
REJECTED = "The tracker rejected the key."


@dataclass(frozen=True, slots=True)
class Got:
    """A successful answer; `data` is None when the body is empty. Header names in lower case."""

    data: Any
    headers: Mapping[str, str]


class Web:
    """Sends the requests of one opened tracker."""

    def __init__(self, opening: Opening, headers: Mapping[str, str]) -> None:
        self._opening = opening
        agent = f"snaglist/{opening.call.service.version}"
        self._headers = {"Accept": "application/json", "User-Agent": agent, **headers}
        self._credentials = headers.get("Authorization", "").removeprefix("Bearer ").removeprefix("Basic ")
        if not (self._credentials.isascii() and self._credentials.isprintable()):
            raise TrackerFailure("The API key holds characters that no key has: set it anew.")

    def get(self, url: str) -> Got:
        """GET."""
        return self.send("GET", url)

    def send(
        self,
        method: str,
        url: str,
        body: Any = None,
        *,
        limited: Callable[[Answer], bool] = lambda answer: False,
        read_failures: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> Got:
        """Send a request with a JSON body (bytes are sent as they are); raises TrackerFailure unless it succeeds.

        `limited` knows further answers that ask for a pause; with `read_failures` the body of a 400 is returned.
        """
        for pause in range(MAX_PAUSES + 1):
            answer = self._ask(method, url, body, headers or {})
            if not (_is_limited(answer) or limited(answer)):
                break
            wait = _wait(answer)
            if not self._opening.patient or wait > LONGEST_PAUSE or pause == MAX_PAUSES:
                raise TrackerFailure(f"The tracker asks to wait for {max(1, round(wait))} s.", passing=True, wait=wait)
            time.sleep(wait)
            if isinstance(self._opening.call, JobCall):
                self._opening.call.check_cancelled()
        return self._read(answer, read_failures)

    def _ask(self, method: str, url: str, body: Any, more: Mapping[str, str]) -> Answer:
        call = self._opening.call
        headers = {**self._headers, **more}
        content = body if isinstance(body, bytes) or body is None else encode(body)
        if content is not None:
            headers["Content-Type"] = "application/json"
        timeout = float(call.setting("tracker.timeout"))
        try:
            answer: Answer = call.service.outbound.request(method, url, headers=headers, body=content, timeout=timeout)
            return answer
        except BadGateway as error:
            raise TrackerFailure(self._safe(error.message), passing=True) from error

    def _read(self, answer: Answer, read_failures: bool) -> Got:
        if len(answer.body) >= MAX_ANSWER:
            raise AnswerTooLong(f"The tracker's answer is over {MAX_ANSWER} bytes.")
        if not (200 <= answer.status < 300 or (read_failures and answer.status == 400)):
            raise self._failure(answer)
        try:
            data = cleaned(json.loads(answer.body)) if answer.body.strip() else None
        except (ValueError, RecursionError) as error:
            raise TrackerFailure("The tracker did not answer with JSON: is endpoint_url its API?") from error
        return Got(data, answer.headers)

    def _failure(self, answer: Answer) -> TrackerFailure:
        status = answer.status
        if status == 401:
            return TrackerFailure(REJECTED)
        if status == 403:
            return TrackerFailure("The tracker refused: the key lacks the rights for this.")
        if status in (404, 410):
            return Missing("The tracker does not know it, or hides it from this key.")
        if 300 <= status < 400:
            return TrackerFailure("The tracker redirects elsewhere, which is not followed: correct the address.")
        if status >= 500 or status == 408:
            return TrackerFailure(f"The tracker answered {status}.", passing=True)
        said = self._safe(_said(answer.body))
        return TrackerFailure(f"The tracker answered {status}{f': {said}' if said else ''}.", refused=True)

    def _safe(self, text: str) -> str:
        # Whoever sends back what he got: Jira's key is sent in another form than it is stored in.
        for secret in (self._credentials, self._opening.api_key, self._opening.webhook_secret):
            if secret:
                text = text.replace(secret, "…")
        return clip(" ".join(text.split()), _MESSAGE)

    def refusal(self, said: str) -> TrackerFailure:
        """Return the failure for what the tracker said in an answer that is no failure of HTTP."""
        return TrackerFailure(f"The tracker refused: {self._safe(said)}", refused=True)


class Missing(TrackerFailure):
    """What was asked for is not there."""


def encode(document: Any) -> bytes:
    """Return a document as compact JSON."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _is_limited(answer: Answer) -> bool:
    """429, or GitHub's 403 with one of its headers for limits."""
    used_up = answer.headers.get("x-ratelimit-remaining") == "0"
    return answer.status == 429 or (answer.status == 403 and ("retry-after" in answer.headers or used_up))


def _wait(answer: Answer) -> float:
    """Return for how many seconds the tracker asks; a minute when it does not say (GitHub's own advice)."""
    after = answer.headers.get("retry-after", "")
    if after.isascii() and after.isdigit():
        return min(float(after), LONGEST_WAIT)
    for name, unit in _RESETS:
        moment = answer.headers.get(name, "")
        if moment.isascii() and moment.isdigit() and len(moment) < 16:
            return min(max(1.0, int(moment) / unit - time.time()), LONGEST_WAIT)
    return 60.0


def _said(body: bytes) -> str:
    """Return the message of a failure's body: `message` (GitHub, GitLab), `error`, or `errorMessages` (Jira)."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(data, dict):
        return ""
    messages = data.get("errorMessages")
    fields = inside(data, "errors")
    if isinstance(messages, list) and (messages or fields):
        return "; ".join([*map(str, messages), *(f"{name}: {text}" for name, text in fields.items())])
    said = data.get("message") or data.get("error") or ""
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
