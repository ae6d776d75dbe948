"""Answer the page and the asset requests of one service."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from threading import Lock

from snaglist.kernel import Assets, Call, NotFound, Reply, hookspecs
from snaglist.kernel.plugins import DISTRIBUTION
from snaglist.plugins.dashboard.assets import PACKERS, Bundle, collect
from snaglist.plugins.dashboard.shell import page, with_login

ASSET_PATTERN = r"static/(?P<hash>[0-9a-f]{12})/(?P<name>[a-z0-9_]+/[A-Za-z0-9_./-]+)"
FOREVER = "public, max-age=31536000, immutable"
# By coding: names it, and not in order to refuse it.
ACCEPTS = {coding: re.compile(rf"\b{coding}\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE) for coding in PACKERS}
SHELL_STYLES = ("css/tokens.css", "css/base.css", "css/parts.css")


@dataclass(frozen=True, slots=True)
class Built:
    """The dashboard of one set of plugins, ready to be sent."""

    bundle: Bundle
    page: bytes


class Site:
    """The dashboard of one service; built at the first request, when all plugins are loaded."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._built: Built | None = None

    def page(self, match: Mapping[str, str], call: Call) -> Reply:
        """Answer the page at the root: the same for everybody in a host, without any application data."""
        return Reply(with_login(self._site(call).page, call.login_url()), content_type="text/html; charset=utf-8")

    def asset(self, match: Mapping[str, str], call: Call) -> Reply:
        """Answer one file of this very state of the dashboard."""
        bundle = self._site(call).bundle
        file = bundle.files.get(match["name"]) if match["hash"] == bundle.hash else None
        if file is None:
            raise NotFound("Not found.")
        headers = {"Cache-Control": FOREVER}
        if not file.compressed:
            return Reply(file.content, headers=headers, content_type=file.content_type)
        headers["Vary"] = "Accept-Encoding"
        offered = call.environ.get("HTTP_ACCEPT_ENCODING", "")
        for coding, body in file.compressed.items():
            if ACCEPTS[coding].search(offered):
                headers["Content-Encoding"] = coding
                return Reply(body, headers=headers, content_type=file.content_type)
        return Reply(file.content, headers=headers, content_type=file.content_type)

    def _site(self, call: Call) -> Built:
        with self._lock:
            if self._built is None:
                shell = Assets("dashboard", files("snaglist.plugins.dashboard") / "ui", "app.js", SHELL_STYLES)
                plugins = call.service.plugins
                offers = [shell, *(assets for _, assets in plugins.added(hookspecs.dashboard_assets))]
                core = {plugin.id for plugin in plugins.loaded() if plugin.core}
                built_in = {plugin.id for plugin in plugins.loaded() if plugin.distribution == DISTRIBUTION}
                bundle = collect(offers, core, built_in)
                self._built = Built(bundle, page(bundle))
            return self._built
