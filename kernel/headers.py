"""Security headers of every answer, failures and pages included."""

from snaglist.kernel.settings import Settings

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
_DENIED = (
    "accelerometer", "camera", "display-capture", "geolocation", "gyroscope",
    "magnetometer", "microphone", "midi", "payment", "usb",
)  # fmt: skip


def security_headers(settings: Settings, scheme: str) -> dict[str, str]:
    """Return the headers for an answer over `http` or `https`."""
    headers = {"X-Content-Type-Options": "nosniff"}
    if not settings["security.headers_enabled"]:
        return headers
    headers |= {
        "Content-Security-Policy": settings["security.content_security_policy"] or POLICY,
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Permissions-Policy": ", ".join(f"{feature}=()" for feature in _DENIED),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    if settings["security.hsts_max_age"] and scheme == "https":
        value = f"max-age={settings['security.hsts_max_age']}"
        value += "; includeSubDomains" if settings["security.hsts_include_subdomains"] else ""
        headers["Strict-Transport-Security"] = value + ("; preload" if settings["security.hsts_preload"] else "")
    return headers
