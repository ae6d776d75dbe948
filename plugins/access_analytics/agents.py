"""User agents: the family of a browser or tool, its system, and whether a person sat in front of it."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from snaglist.plugins.issues import clean

NO_AGENT = "-"
OTHER_SYSTEM = "Other"
_MAX_FAMILY = 100
_MAX_PARSED = 1_000  # characters of an agent that are looked at
# Programs that neither the list of crawlers nor ua-parser knows: health checks, libraries, and who gives an address.
_PROGRAMS = re.compile(
    r"\+https?:|^(?:elb-healthchecker|googlehc|guzzle|insomnia|kube-probe|node|php|postman|ruby)\b", re.IGNORECASE
)
# Tools that look for weak places, by the names that they give themselves.
_SCANNERS = re.compile(
    r"\b(?:acunetix|censysinspect|dirbuster|expanse|feroxbuster|fuzz faster u fool|gobuster|internetmeasurement|"
    r"l9explore|l9tcpid|leakix|masscan|nessus|netcraft ?survey|nikto|nmap|nuclei|openvas|qualys|sqlmap|wfuzz|wpscan|"
    r"zgrab|zmeu)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, eq=False)
class Agent:
    """What an agent is called, and what it is; compared by identity, because each line looks one up."""

    family: str
    bot: bool
    system: str
    scanner: bool


# The same object for all texts that mean the same, as far as it is remembered.
_agent = lru_cache(maxsize=20_000)(Agent)


@cache
def _rules() -> tuple[Any, Any]:
    """Return what parses agents and what knows crawlers; loaded with the first agent, because they take memory."""
    import crawleruseragents
    import ua_parser  # with its Rust-backed extra

    return ua_parser.parse, crawleruseragents.is_crawler


def describe_agent(agent: str) -> Agent:
    """Return what an agent is; an empty one is a bot."""
    if not agent or agent == "-":
        return _agent(NO_AGENT, True, OTHER_SYSTEM, False)
    # Some servers write blanks as plus signs.
    text = agent[:_MAX_PARSED]
    if " " not in text and "+(" in text:
        text = text.replace("+", " ")
    parse, is_crawler = _rules()
    found = parse(text)
    browser, device = found.user_agent, found.device
    family = browser.family if browser else text.partition("/")[0].partition(" ")[0]
    bot = bool(device and device.family == "Spider") or is_crawler(text) or bool(_PROGRAMS.search(text))
    system = found.os.family if found.os else OTHER_SYSTEM
    return _agent(
        clean(family[:_MAX_FAMILY]) or NO_AGENT,
        bot,
        clean(system[:_MAX_FAMILY]) or OTHER_SYSTEM,
        bool(_SCANNERS.search(text)),
    )
