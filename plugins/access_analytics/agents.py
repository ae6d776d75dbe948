"""User agents: the family of a browser or tool, and whether a person sat in front of it."""

import re
from functools import cache
from typing import Any

from snaglist.plugins.issues import clean

NO_AGENT = "-"
_MAX_FAMILY = 100
_MAX_PARSED = 1_000  # characters of an agent that are looked at
# Words that programs call themselves by. A name that only ends in "bot" is one when it is written as a product
# ("SomeBot/1.0", "somebot;"), so that a phone named CUBOT is not.
_MARKERS = re.compile(
    r"crawler|spider|slurp|scraper|fetcher|monitor|uptime|pingdom|headless|phantomjs|lighthouse|validator|preview"
    r"|[a-z]-?bot[/;) _-]|(?:^|[^a-z])bot(?:$|[^a-z])|robot|bot$|\+https?:"
    r"|^(?:curl|wget|python|go-http-client|java|okhttp|libwww|ruby|perl|php|axios|node|apache-httpclient|aiohttp|httpx"
    r"|httpie|postman|insomnia|scrapy|guzzle|kube-probe|elb-healthchecker|googlehc|nmap|masscan|zgrab|nikto)",
    re.IGNORECASE,
)
_PHONES = re.compile(r"\bcubot\b", re.IGNORECASE)


@cache
def _parser() -> Any:
    import ua_parser  # with its Rust-backed extra; loaded with the first agent, because its rules take memory

    return ua_parser


def describe_agent(agent: str) -> tuple[str, bool]:
    """Return family and whether it is a bot; an empty agent is one."""
    if not agent or agent == "-":
        return NO_AGENT, True
    # Some servers write blanks as plus signs.
    text = agent[:_MAX_PARSED]
    if " " not in text and "+(" in text:
        text = text.replace("+", " ")
    found = _parser().parse(text)
    browser, device = found.user_agent, found.device
    family = browser.family if browser else text.partition("/")[0].partition(" ")[0]
    bot = bool(device and device.family == "Spider") or bool(_MARKERS.search(_PHONES.sub("", text)))
    return clean(family[:_MAX_FAMILY]) or NO_AGENT, bot
