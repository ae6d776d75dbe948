"""The one HTML page: styles, modules and a skeleton, no data.

It is public when a key is set (the key travels in a header, which a navigation cannot send), so
everything that is secret comes later through the API.
"""

import json
from html import escape
from string import Template

from snaglist.kernel import Assets
from snaglist.plugins.dashboard.assets import APP, THEME, Bundle

SHELL = "dashboard"

PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>snaglist</title>
<link rel="icon" href="${base}dashboard/icon.svg" type="image/svg+xml">
<script src="${base}${theme}"></script>
${styles}
${modules}
<script type="application/json" id="boot">${boot}</script>
<script type="module" src="${base}${app}"></script>
</head>
<body>
<div id="app" aria-busy="true">
<div class="frame skeleton">
<header class="rail"><p class="brand">snaglist</p></header>
<main class="page"><h1>Loading …</h1>${rows}</main>
</div>
</div>
<noscript><p class="notice">The dashboard needs JavaScript. The API under <code>?api=</code> does not.</p></noscript>
</body>
</html>
""")


def page(bundle: Bundle) -> bytes:
    """Write the page for a bundle of assets."""
    base = f"static/{bundle.hash}/"
    entries = [_entry(assets, bundle, base) for assets in bundle.contributors if assets.name != SHELL]
    text = PAGE.substitute(
        base=base,
        theme=THEME,
        styles="\n".join(f'<link rel="stylesheet" href="{base}{escape(name)}">' for name in bundle.styles()),
        modules="\n".join(f'<link rel="modulepreload" href="{base}{escape(name)}">' for name in bundle.first_modules()),
        app=APP,
        boot=json.dumps({"modules": entries}).replace("<", "\\u003c"),
        rows='<div class="bone"></div>' * 8,
    )
    return text.encode()


def with_login(text: bytes, url: str) -> bytes:
    """Name in the page where people of the host sign in, "" for nowhere; the sign-in page links to it."""
    return (
        text.replace(b"</head>", f'<meta name="login" content="{escape(url)}">\n</head>'.encode(), 1) if url else text
    )


def _entry(assets: Assets, bundle: Bundle, base: str) -> dict[str, object]:
    """Say where the module of a contributor is, and whether nobody can switch it off."""
    return {"plugin": assets.name, "module": f"{base}{assets.name}/{assets.module}", "core": assets.name in bundle.core}
