"""The page at the root below a mount point."""

from snaglist.testing import Client


def test_a_mount_point_without_its_slash_leads_to_the_page(sqlite_client: Client) -> None:
    """Relative links need the slash; the query, which holds the view, is kept."""
    bare = {"SCRIPT_NAME": "/logs", "PATH_INFO": ""}
    answer = sqlite_client.request("GET", "/", **bare)
    assert (answer.status, answer.headers["location"]) == (308, "/logs/")
    answer = sqlite_client.request("GET", "/?view=issue&id=3", **bare)
    assert (answer.status, answer.headers["location"]) == (308, "/logs/?view=issue&id=3")
    assert sqlite_client.request("GET", "/?api=tags", **bare).status == 200
