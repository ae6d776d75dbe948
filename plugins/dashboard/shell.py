"""The one HTML page: styles, modules and a skeleton, no data.

It is public when a key is set (the key travels in a header, which a navigation cannot send), so
everything that is secret comes later through the API.
"""

import json
from html import escape
from string import Template

from snaglist.plugins.dashboard.assets import Bundle

SHELL = "dashboard"
# Runs as a classic script before the first paint, so that a chosen theme does not flash.
THEME = f"{SHELL}/theme.js"

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
${preloads}
<script type="application/json" id="boot">${boot}</script>
<script type="module" src="${base}dashboard/app.js"></script>
</head>
<body>
<div id="app" aria-busy="true">
<div class="frame skeleton">
<div class="rail"><p class="brand">snaglist</p></div>
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
    contributors = [
        {
            "plugin": assets.name,
            "module": f"{base}{assets.name}/{assets.module}",
            "core": assets.name in bundle.core,
        }
        for assets in bundle.contributors
        if assets.name != SHELL
    ]
    text = PAGE.substitute(
        base=base,
        theme=THEME,
        styles="\n".join(f'<link rel="stylesheet" href="{base}{escape(name)}">' for name in bundle.styles()),
        preloads="\n".join(f'<link rel="modulepreload" href="{base}{escape(name)}">' for name in bundle.modules()),
        boot=json.dumps({"modules": contributors}).replace("<", "\\u003c"),
        rows='<div class="bone"></div>' * 8,
    )
    return text.encode()
