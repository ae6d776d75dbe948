"""The built-in connector types."""

from snaglist.plugins.connectors.contract import ConnectorType
from snaglist.plugins.connectors.types import local, ssh, url

BUILT_IN: dict[str, ConnectorType] = {
    "local": ConnectorType(local.check, local.open_folder, in_place=True),
    "ssh": ConnectorType(ssh.check, ssh.connect, secrets=ssh.SECRETS),
    "url": ConnectorType(url.check, url.connect, secrets=url.SECRETS),
}
