"""Addressing, order, key, host and origin, failures and types."""

import hashlib
import json
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import urlopen

import pytest

pytestmark = pytest.mark.whole

OPEN = {"Content-Type": "application/json"}
TAG = b'{"name":"%s"}'


# addressing


def test_check_01_health(shared):
    answer = shared.send("GET", "/?api=health")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("application/json")


def test_check_02_the_root_is_the_dashboard_and_takes_no_post(shared):
    page = shared.send("GET", "/")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    shared.send("POST", "/").err(404)
    shared.send("GET", "/?api=").err(404)
    assert shared.send("GET", "/?API=tags").content == page.content


def test_check_03_an_endpoint_lives_on_the_root_only(shared):
    shared.send("GET", "/nope?api=tags").err(404)


def test_check_04_head_and_options(shared):
    got, head = shared.send("GET", "/?api=tags"), shared.send("HEAD", "/?api=tags")
    assert (head.status, head.content) == (200, b"")
    assert head.headers["content-type"] == got.headers["content-type"]
    assert head.headers["content-length"] == got.headers["content-length"]
    options = shared.send("OPTIONS", "/?api=tags")
    assert (options.status, options.content) == (204, b"")
    allowed = {method.strip() for method in options.headers["allow"].split(",")}
    assert allowed == {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


@pytest.mark.parametrize("target", ["/", "/?api=tags", "/?api=nope", "/nope", "/?api=tags&app=nope"])
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_check_05_no_cross_origin_header_anywhere(shared, method, target):
    """The client of these tests fails on any header that starts with `Access-Control-`."""
    shared.send(method, target, headers={"Origin": "http://evil.example"})


def test_check_06_mounted_below_a_prefix(data: Path):
    host = (
        "import waitress; from waitress.server import create_server; from snaglist.kernel.app import create_app;"
        "from snaglist.kernel.service import Service; from snaglist.kernel.settings import Settings;"
        f"service = Service(Settings({{'server.data': {str(data)!r}}})); service.start();"
        "server = create_server(create_app(service), port=0,"
        " host='127.0.0.1', url_prefix='/logs'); print(server.effective_port, flush=True); server.run()"
    )
    with subprocess.Popen([sys.executable, "-c", host], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            base = f"http://127.0.0.1:{int(process.stdout.readline())}/logs/"
            with urlopen(f"{base}?api=tags") as answer:
                assert (answer.status, json.load(answer)) == (200, {"data": []})
            with urlopen(base) as answer:
                page = answer.read().decode()
            links = [part.split('"')[0] for attribute in ('src="', 'href="') for part in page.split(attribute)[1:]]
            assert links and not [link for link in links if link.startswith(("/", "http"))]
            for link in links:
                with urlopen(base + link) as answer:
                    assert answer.status == 200
        finally:
            process.terminate()


def _rows(data: Path) -> dict[str, str]:
    """A digest of every table of every database, but `workers` and `jobs`."""
    found = {}
    for file in sorted(data.rglob("*.sqlite")):
        with sqlite3.connect(file) as db:
            names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for name in set(names) - {"workers", "jobs"}:
                rows = repr(db.execute(f'SELECT * FROM "{name}" ORDER BY 1').fetchall())
                found[f"{file.name}.{name}"] = hashlib.sha256(rows.encode()).hexdigest()
        db.close()
    return found


def test_check_07_reading_changes_nothing(serve):
    fresh = serve()
    before = _rows(fresh.data)
    reads = [name for name, methods in fresh.get("openapi").json["paths"].items() if "get" in methods]
    assert len(reads) > 10
    for name in [*reads, *reads]:
        # Nothing is there yet: the thing asked for is 404, a related id (source_id of a preview) 422.
        assert fresh.send("GET", f"{name}&id=1&source_id=1").status in (200, 404, 422)
    assert _rows(fresh.data) == before


# order


def test_check_08_without_the_key_nothing_is_learned(keyed):
    targets = [("GET", "nope"), ("GET", "tags&app=nope"), ("GET", "deploys"), ("PUT", "summary")]
    answers = [keyed.send(method, f"/?api={target}") for method, target in targets]
    assert len({answer.err(401) for answer in answers}) == 1


def test_check_09_with_the_key_each_has_its_own_answer(keyed, key):
    keyed.send("GET", "/?api=nope", headers=key).err(404)
    assert keyed.send("GET", "/?api=tags&app=nope", headers=key).err(422) == "Unknown application."
    keyed.send("GET", "/?api=deploys", headers=key).err(404)
    refused = keyed.send("PUT", "/?api=summary", headers=key)
    refused.err(405)
    assert refused.headers["allow"] == "GET, HEAD, OPTIONS"


def test_check_11_the_key_before_the_origin(keyed, key):
    foreign = {"Origin": "http://evil.example", **OPEN}
    keyed.send("POST", "/?api=tags", b"{}", {**foreign, "X-Service-Token": "wrong"}).err(401)
    keyed.send("POST", "/?api=tags", b"{}", {**foreign, **key}).err(403)


def test_check_12_fields_before_existence(shared):
    shared.put("tags", {"id": 999999, "name": ""}).err(422)
    shared.put("tags", {"id": 999999, "name": "x"}).err(404)


def test_check_13_a_malformed_query_authenticates_nobody(keyed, key):
    keyed.send("GET", "/?api=health&api=tags").err(401)
    keyed.send("GET", "/?api=health&api=tags", headers=key).err(400)


def test_check_14_an_unknown_application_makes_no_folder(shared):
    before = sorted((shared.data / "applications").iterdir())
    shared.get("tags", app="nope").err(422)
    shared.post("tags", {"name": "x"}, app="nope").err(422)
    assert sorted((shared.data / "applications").iterdir()) == before


# key, host, origin


def test_check_15_ways_to_present_the_key(keyed, key):
    right = key["X-Service-Token"]
    for headers in (key, {"Authorization": f"Bearer {right}"}, {"Authorization": f"bearer {right}"}):
        assert keyed.send("GET", "/?api=tags", headers=headers).status == 200
    for headers in ({"Authorization": f"Basic {right}"}, {"Authorization": "Bearer"}):
        answer = keyed.send("GET", "/?api=tags", headers=headers)
        answer.err(401)
        assert answer.headers["www-authenticate"] == "Bearer"
    in_query = keyed.send("GET", f"/?api=tags&key={right}")
    in_query.err(401)
    assert in_query.headers["www-authenticate"] == "Bearer"


def test_check_16_the_token_header_decides_alone(keyed, key):
    bearer = {"Authorization": f"Bearer {key['X-Service-Token']}"}
    keyed.send("GET", "/?api=tags", headers={"X-Service-Token": "wrong", **bearer}).err(401)
    assert keyed.send("GET", "/?api=tags", headers={"X-Service-Token": "", **bearer}).status == 200


def test_check_17_a_key_of_other_bytes_is_wrong(keyed):
    keyed.send("GET", "/?api=tags", headers={"X-Service-Token": b"k\xe9y\xff"}).err(401)


def test_check_18_health_needs_no_key(keyed):
    assert keyed.send("GET", "/?api=health").status == 200


def test_check_19_the_sign_in_page_holds_no_data(keyed, key):
    keyed.post("issues", {"title": "Secret plans"}, headers=key).ok(201)
    page = keyed.send("GET", "/", headers={"Accept": "text/html"})
    assert page.status == 401
    assert page.headers["content-type"].startswith("text/html")
    assert "Secret plans" not in page.text
    keyed.send("GET", "/").err(401)


def test_check_20_a_blank_key_stops_the_start(data, command):
    done = command(data, "serve", "--port", "0", SERVICE_TOKEN="   ")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"auth.token" in done.stderr


def test_check_21_the_throttle_counts_different_keys(serve, key):
    keyed = serve(SERVICE_TOKEN=key["X-Service-Token"])
    tries = [keyed.send("GET", "/?api=tags", headers={"X-Service-Token": "same"}).status for _ in range(45)]
    assert tries == [401] * 45
    for number in range(20):
        keyed.send("GET", "/?api=tags", headers={"X-Service-Token": f"wrong {number}"}).err(401)
    blocked = keyed.send("GET", "/?api=tags", headers={"X-Service-Token": "one more"})
    blocked.err(429)
    assert int(blocked.headers["retry-after"]) >= 1
    keyed.send("GET", "/?api=tags").err(401)


def test_check_22_only_own_host_names_without_a_key(serve, data):
    refused = serve().send("GET", "/?api=tags", headers={"Host": "evil.example"})
    assert refused.err(403) == "Host not allowed: set SERVICE_URL or SERVICE_ALLOWED_HOSTS."
    assert serve(SERVICE_ALLOWED_HOSTS="*").send("GET", "/?api=tags", headers={"Host": "evil.example"}).status == 200


def test_check_23_a_foreign_page_may_not_write(app):
    host, port = app.address
    for origin, status in (
        ("http://evil.example", 403), (None, 201), ("null", 403), (f"http://{host}:{port}", 201), ("", 201),
    ):  # fmt: skip
        headers = {} if origin is None else {"Origin": origin}
        assert app.post("tags", {"name": f"from {origin}"}, headers=headers).status == status, origin


def test_check_24_origin_and_host_compare_by_name_and_port(serve):
    named = serve(SERVICE_ALLOWED_HOSTS="logs.example")
    cases = (
        ("logs.example", "https://logs.example", 201),
        ("logs.example", "https://LOGS.example", 201),
        ("logs.example", "https://logs.example:443", 201),
        ("logs.example", "http://logs.example", 201),
        ("logs.example:443", "https://logs.example", 201),
        ("logs.example", "https://logs.example:8443", 403),
        ("logs.example", "https://logs.example.evil.test", 403),
        ("logs.example", "https://logs.example@evil.test", 403),
        ("logs.example:8080", "https://logs.example", 403),
    )
    for number, (host, origin, status) in enumerate(cases):
        answer = named.post("tags", {"name": f"tag {number}"}, headers={"Host": host, "Origin": origin})
        assert answer.status == status, (host, origin, answer.content)


def test_check_25_reading_is_never_checked_for_its_origin(shared):
    assert shared.send("GET", "/?api=errors", headers={"Origin": "http://evil.example"}).status == 200


# failures and types


@pytest.mark.parametrize("body", [b'{"name":', b'{"name":NaN}', b'{"name":"a","name":"b"}', b"\xff", b"[" * 200_000])
def test_check_26_what_is_not_json(shared, body):
    shared.send("POST", "/?api=tags", body, OPEN).err(400)


@pytest.mark.parametrize(
    "headers", [{"Content-Type": "text/plain"}, {}, {"Content-Type": "application/json; charset=iso-8859-1"}]
)
def test_check_27_bodies_of_another_type(shared, headers):
    shared.send("POST", "/?api=tags", b'{"name":"x"}', headers).err(415)


def test_check_28_a_body_over_the_limit(shared):
    shared.send("POST", "/?api=tags", TAG % (b"x" * (1024 * 1024 * 11 // 10)), OPEN).err(413)


def test_check_29_the_body_is_an_object(shared):
    shared.post("tags", []).err(422)
    assert "name" in shared.send("POST", "/?api=tags").err(422)


@pytest.mark.parametrize("query", ["tags&app=default&app=default", "errors&q=%FF", "errors&q=a%00b", "errors&q=%zz"])
def test_check_30_malformed_queries(shared, query):
    shared.send("GET", f"/?api={query}").err(400)


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "true", "null", '"1"', "[]", "9223372036854775808"])
def test_check_31_ids_that_cannot_be(shared, value):
    shared.delete("tags", f'{{"id":{value}}}'.encode()).err(422)


def test_check_31_the_highest_id_is_unknown(shared):
    shared.delete("tags", {"id": 9223372036854775807}).err(404)


def test_check_32_the_id_in_body_and_query(app):
    tag = app.post("tags", {"name": "T"}).ok(201)["id"]
    app.delete("tags", {"id": 0}, id=tag).err(422)
    app.delete("tags", {"id": None}, id=tag).err(422)
    app.delete("tags", {"id": tag + 1}, id=tag).err(422)
    assert app.delete("tags", {"id": tag}, id=tag).ok() == {"id": tag, "deleted": True}


@pytest.mark.parametrize(
    ("value", "status"), [("yes", 422), ("TRUE", 422), ("2", 422), ("true", 200), ("0", 200), ("", 200)]
)
def test_check_33_booleans_in_a_query(shared, value, status):
    assert shared.get("errors", has_stack=value).status == status


@pytest.mark.parametrize("query", ["page=0", "page=x", "limit=201", "limit=-1", "page=1000000000000000000"])
def test_check_34_pages_that_cannot_be(shared, query):
    shared.send("GET", f"/?api=errors&{query}").err(422)


def test_check_35_an_empty_application(app):
    empty = app.get("errors").ok()
    assert (empty["data"], empty["meta"]["pages"], empty["meta"]["next_cursor"]) == ([], 0, None)


@pytest.fixture
def many(app):
    """`app` with 120 issues."""
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: app.post("issues", {"title": f"Issue {number}"}).ok(201), range(120)))
    return app


def test_check_36_a_walk_by_cursor(many):
    walked, sizes, query = [], [], {}
    while True:
        page = many.get("errors", limit=50, **query).ok()
        sizes.append(len(page["data"]))
        walked += [issue["id"] for issue in page["data"]]
        if page["meta"]["next_cursor"] is None:
            break
        query = {"cursor": page["meta"]["next_cursor"]}
    assert sizes == [50, 50, 20]
    assert len(set(walked)) == 120
    by_page = [issue["id"] for number in (1, 2, 3) for issue in many.get("errors", limit=50, page=number).data]
    assert by_page == walked


def test_check_37_cursors_that_do_not_fit(app):
    for number in range(3):
        app.post("issues", {"title": f"Issue {number}"}).ok(201)
    cursor = app.get("errors", limit=2).json["meta"]["next_cursor"]
    assert app.get("errors", limit=2, cursor=cursor).status == 200
    app.get("errors", cursor="abc").err(422)
    app.get("errors", cursor=cursor, sort="oldest").err(422)
    app.get("errors", cursor=cursor, q="other").err(422)
    app.get("errors", cursor=cursor, page=1).err(422)


def test_check_38_unknown_fields(app):
    app.put("ingestion-settings", {"severities": ["ERROR"], "severitys": 1}).err(422)
    app.post("tags", {"name": "x", "extra": 1}).ok(201)


def test_check_40_parallel_writers_queue(app):
    with ThreadPoolExecutor(20) as pool:
        made = list(pool.map(lambda number: app.post("tags", {"name": f"tag {number}"}).status, range(20)))
    assert made == [201] * 20
    assert len(app.get("tags").data) == 20


# headers


def test_check_125_headers_of_every_kind_of_answer(shared):
    """The client of these tests looks at every answer; here at what the server refuses by itself."""
    page = shared.send("GET", "/").text
    asset = page.split('src="')[1].split('"')[0]
    for target in ("/", f"/{asset}", "/nope", "/?api=summary", "/?api=errors&format=csv", "/?api=tags&api=tags"):
        shared.send("GET", target)
    without_host, long = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", b"GET /" + b"a" * 20_000
    for request in (b"NONSENSE\r\n\r\n", without_host, long + b" HTTP/1.0\r\n\r\n"):
        head, _, body = shared.raw(request).partition(b"\r\n\r\n")
        assert b"content-security-policy: " in head.lower() and b"x-content-type-options: nosniff" in head.lower()
        assert list(json.loads(body)) == ["error"]
