"""The dashboard: one page and the files it needs.

The area knows no other area. It serves the shell and whatever browser modules the loaded plugins
offer through `dashboard_assets`; every screen then talks to the JSON API like any other client.
"""

from collections.abc import Sequence
from importlib.metadata import version

from snaglist.kernel import Description, Path, hookimpl
from snaglist.plugins.dashboard.site import ASSET_PATTERN, Site

__all__: list[str] = []


@hookimpl
def describe() -> Description:
    """Name the area."""
    return Description(
        id="dashboard",
        name="Dashboard",
        description="The page at the root and the browser modules of all areas",
        category="Core",
        version=version("snaglist"),
        core=True,
    )


@hookimpl
def register_paths() -> Sequence[Path]:
    """Serve the page at the root and the assets below `static/`."""
    site = Site()
    return [
        Path("", site.page),
        Path(ASSET_PATTERN, site.asset),
    ]
