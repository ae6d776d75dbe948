"""User agents: the family of a browser or tool, and whether a person sat in front of it."""

import re
from functools import cache
from typing import Any

from snaglist.plugins.issues import clean

NO_AGENT = "-"
_MAX_FAMILY = 100
_MAX_PARSED = 1_000  # characters of an agent that are looked at
# Programs that neither the list of crawlers nor ua-parser knows: health checks, libraries, and who gives an address.
_PROGRAMS = re.compile(
    r"\+https?:|^(?:elb-healthchecker|googlehc|guzzle|insomnia|kube-probe|node|php|postman|ruby)\b", re.IGNORECASE
)


@cache
def _rules() -> tuple[Any, Any]:
    """Return what parses agents and what knows crawlers; loaded with the first agent, because they take memory."""
    import crawleruseragents
    import ua_parser  # with its Rust-backed extra

    return ua_parser.parse, crawleruseragents.is_crawler


def describe_agent(agent: str) -> tuple[str, bool]:
    """Return family and whether it is a bot; an empty agent is one."""
    if not agent or agent == "-":
        return NO_AGENT, True
    # Some servers write blanks as plus signs.
    text = agent[:_MAX_PARSED]
    if " " not in text and "+(" in text:
        text = text.replace("+", " ")
    parse, is_crawler = _rules()
    found = parse(text)
    browser, device = found.user_agent, found.device
    family = browser.family if browser else text.partition("/")[0].partition(" ")[0]
    bot = bool(device and device.family == "Spider") or is_crawler(text) or bool(_PROGRAMS.search(text))
    return clean(family[:_MAX_FAMILY]) or NO_AGENT, bot
