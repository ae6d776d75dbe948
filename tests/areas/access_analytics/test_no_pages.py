"""What `OPTIONS *` and CONNECT ask for is counted as a request, and is no page."""

from snaglist.plugins.access_analytics.tally import Tally, sums_of

HOUR = "2025-02-11 07:00:00"


def test_a_star_and_the_host_of_a_tunnel_are_no_pages() -> None:
    tally = Tally(lambda address, _: address)
    for method, path, status in (("OPTIONS", "*", 200), ("CONNECT", "shop.example.org:443", 502), ("GET", "/a", 200)):
        tally.add(HOUR, method, path, status, 10, "", "probe", "10.0.0.9", "", 12.0)
    sums = sums_of(tally.take()[HOUR])
    hits = {(dim, value): one.hits for (dim, value, _), one in sums.items()}
    assert [value for dim, value in hits if dim == "path"] == ["/a"]
    assert {value for dim, value in hits if dim == "method"} == {"OPTIONS", "CONNECT", "GET"}
    assert hits["all", ""] == 3
