"""`snaglist releases`: what build pipelines tell a running server."""

from snaglist.plugins.releases.command.deploying import add_deploy
from snaglist.plugins.releases.command.uploading import add_upload
from snaglist.plugins.system import group

releases = group(None, "releases", "Tell a server about deploys and source maps.")
add_deploy(releases)
add_upload(group(releases, "sourcemaps", "Source maps of minified scripts."))


COMMANDS = (releases,)
