"""Paths that are asked for to find weak places, whatever the site is made of: what no page of it links to."""

import re

# Files that give secrets away, consoles of common software, and ways out of the served folder. A request for one of
# them counts as a scanner's only when it was refused: where such a path is answered it belongs to the site.
_PROBES = re.compile(
    r"^/*(?:[\w.-]+/){0,2}(?:\.env\b|\.git/|\.svn/|\.hg/|\.aws/|\.ssh/|\.ds_store|\.htpasswd|\.vscode/|\.npmrc|"
    r"wp-(?:login|config|admin)|wlwmanifest\.xml|xmlrpc\.php|phpmyadmin|phpinfo|mysqladmin|cgi-bin/|boaform/|hnap1|"
    r"gponform/|goform/|setup\.cgi|vendor/phpunit|eval-stdin\.php|server-status|actuator/|solr/admin|manager/html|"
    r"_ignition/|telescope/requests|owa/auth|autodiscover/|remote/login|console/login|config\.(?:php|ya?ml)\b|"
    r"(?:backup|dump|database)\.(?:sql|zip|tar|gz)|id_rsa)"
    r"|\.\./|%2e%2e|/etc/passwd|\$\{jndi:",
    re.IGNORECASE,
)


def is_probe(path: str) -> bool:
    """Tell whether a path is one that scanners try."""
    return _PROBES.search(path[:2_048]) is not None
