"""Paths, routes and URLs: fixed words stay, ids, release directories, hosts and queries go."""

import re
from urllib.parse import unquote

from snaglist.plugins.issues.grouping.names import PLACEHOLDER, is_id, mask_name

# What an application is made of: such a path names a place in the program, any other file is data.
PROGRAM_SUFFIXES = (
    "php|php[3-8]|phtml|py|pyx|rb|erb|haml|slim|js|jsx|mjs|cjs|ts|tsx|vue|svelte|css|scss|less|wasm|htm|html|java|kt|kts"
    "|scala|groovy|cs|vb|fs|cshtml|razor|go|rs|swift|c|cc|cpp|cxx|h|hpp|hxx|pl|pm|lua|exs|erl|clj|dart|sql|sh|ps1|twig|jsp"
    "|tpl|ejs|hbs"
)
# Files of these kinds hold data, and so do others of which a number is part of the name.
_DATA_SUFFIXES = (
    "png|jpe?g|gif|svg|webp|heic|tiff?|bmp|pdf|docx?|xlsx?|pptx?|odt|csv|tsv|zip|gz|tgz|bz2|xz|7z|rar|tar|mp[34]|avi|mov"
    "|wav|tmp|bak|parquet"
)
_NUMBERED_SUFFIXES = "json|jsonl|xml|log|txt|html?|dat|ya?ml|db"
DATA_FILE = rf"[\w-](?:[\w.-]*\.(?i:{_DATA_SUFFIXES})|(?=[\w.-]*\d)[\w.-]*\.(?i:{_NUMBERED_SUFFIXES}))(?![\w/<@-]|\.\w)"
_DATA_NAME = re.compile(DATA_FILE)
_PROGRAM_FILE = re.compile(rf"\.(?:{PROGRAM_SUFFIXES})\Z", re.IGNORECASE)
_RELEASE = re.compile(r"(?:.*/)?(?:releases?/[^/]+|deployments?/[^/]+|current)/(?=.)", re.IGNORECASE)
_PACKAGES = re.compile(r".*/(?:site-packages|dist-packages|node_modules|pkg/mod|gems)/(?=.)")
_STANDARD_LIBRARY = re.compile(r".*/lib/(?:python|ruby)[\d./]+(?=.)")
_ROOT = re.compile(
    r"(?:[A-Za-z]:)?/+(?:(?:inetpub/wwwroot|var/www(?:/html|/vhosts)?|usr/local|srv|opt|home|Users|root|www|data|mnt|workspace"
    r"|builds?|usr/src|code)/(?:[^/]+/(?=[^/]+/))?|app/(?=.))?"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/*(?:\([^)/]*\)/*)?(?:\./)?")
_AUTHORITY = re.compile(r"https?://[^/?#]*", re.IGNORECASE)
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://[^/?#]*([^?#]*)")
_VERSIONED = re.compile(r"(?<=[^/])(?:@v?|-v?)\d+(?:\.\d+)+[^/]*(?=/)")
_HASH = re.compile(
    r"[.-](?=[^/.]*[\dA-Z])(?:\d\w*|[0-9a-f]{6,}|[\w-]{8}|[0-9A-Za-z]{16,32})(?=(?:\.(?:min|bundle|chunk))?\.\w+\Z)"
)
_WORD = re.compile(r"-?\w+")
_PLAIN_SEGMENT = re.compile(r"[A-Za-z][A-Za-z_.-]*\Z")
_API_VERSION = re.compile(r"v\d{1,2}\Z", re.IGNORECASE)
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\Z")
_KEPT_SEGMENTS = 4
_PATH_LIMIT = 2048


def strip_hash(name: str) -> str:
    """Remove the content hash that a build puts between the name and the extension of a bundle."""
    return _HASH.sub("", name)


def mask_segment(segment: str, placeholder: str = PLACEHOLDER) -> str:
    """Mask one segment of a path."""
    if not segment or _PLAIN_SEGMENT.match(segment) or _API_VERSION.match(segment):
        return segment
    if segment[0].isdigit() or "@" in segment or "%" in segment or _UUID.match(segment):
        return placeholder
    if segment.isalnum() and is_id(segment):
        return placeholder
    if _PROGRAM_FILE.search(segment):
        segment = strip_hash(segment)
    masked = _WORD.sub(lambda found: _masked_word(found[0]), segment)
    return masked if placeholder == PLACEHOLDER else masked.replace(PLACEHOLDER, placeholder)


def _masked_word(word: str) -> str:
    return "-" + mask_name(word[1:]) if word[0] == "-" else mask_name(word)


def path_template(path: str, placeholder: str = PLACEHOLDER) -> str:
    """Return a request path with its ids masked, without query and `;` parameters."""
    path = path[:_PATH_LIMIT].partition("?")[0].partition("#")[0]
    if "%" in path:
        path = unquote(path)
    return "/".join(mask_segment(segment.partition(";")[0], placeholder) for segment in path.split("/"))


def mask_url(url: str) -> str:
    """Return a URL with scheme and path words; host, port, ids and query are values."""
    found = _URL.match(url)
    if not found:
        return PLACEHOLDER
    path = path_template(found[2].removesuffix("/"))
    folder, _, name = found[2].rpartition("/")
    if _DATA_NAME.fullmatch(name):
        path = f"{path_template(folder)}/{PLACEHOLDER}"
    return f"{found[1].lower()}://{PLACEHOLDER}{path}"


def mask_path(path: str) -> str:
    """Return a file path: the place in the program when it names a part of it, else a value."""
    return program_path(path) if _PROGRAM_FILE.search(path) else PLACEHOLDER


def program_path(path: str) -> str:
    """Return the part of a source file's path that is the same on every machine and for every release."""
    path = path.replace("\\", "/")
    if "://" in path or path.startswith(("webpack", "file:", "app:")):
        path = _AUTHORITY.sub("", path)
        path = _SCHEME.sub("", path).partition("?")[0].partition("#")[0]
    path = path.replace("/./", "/")
    for marker in (_PACKAGES, _STANDARD_LIBRARY, _RELEASE, _ROOT):
        cut = marker.match(path)
        if cut and cut.end():
            path = path[cut.end() :]
            break
    path = _VERSIONED.sub("", path.lstrip("/").removeprefix("./"))
    segments = path.split("/")[-_KEPT_SEGMENTS:]
    return "/".join(mask_segment(segment) for segment in segments)
