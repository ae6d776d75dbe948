"""Stack frames in the key."""

import pytest

from snaglist.plugins.issues.events import Event, ExceptionInfo, Frame
from snaglist.plugins.issues.grouping import grouping_key
from snaglist.plugins.issues.grouping.frames import MAX_FRAMES, file_name, function_name

FILES = [
    ("/var/www/shop/releases/20240301101010/app/Charge.php", "app/Charge.php"),
    ("/var/www/shop/current/app/Charge.php", "app/Charge.php"),
    ("/srv/shop/app/Charge.php:88", "app/Charge.php"),
    ("app/Charge.php(88)", "app/Charge.php"),
    ("app/orders.py", "app/orders.py"),
    ("./app/orders.py", "app/orders.py"),
    (r"C:\inetpub\wwwroot\Shop\Controllers\Pay.cs:line 12", "Controllers/Pay.cs"),
    (r"C:\inetpub\wwwroot\Shop\Controllers\Pay.cs:Zeile 12", "Controllers/Pay.cs"),
    ("/opt/venv/lib/python3.11/site-packages/requests/adapters.py", "requests/adapters.py"),
    ("/usr/lib/python3.12/json/decoder.py", "json/decoder.py"),
    ("/home/jane/app/node_modules/express/lib/router.js", "express/lib/router.js"),
    ("/usr/local/bundle/gems/rack-3.0.8/lib/rack/head.rb", "rack/lib/rack/head.rb"),
    ("/root/go/pkg/mod/example.org/lib@v1.2.3/io.go", "example.org/lib/io.go"),
    ("https://shop.example/js/bundle.app.5b02c7e1f4a98d63b0c7.js", "js/bundle.app.js"),
    ("https://shop.example/js/bundle.app.e913a4d80c6f27b5912d.js?v=3", "js/bundle.app.js"),
    ("https://cdn.example:8443/assets/index-Bk9_vW3t.js", "assets/index.js"),
    ("https://cdn.example/assets/main-settings.js", "assets/main-settings.js"),
    ("webpack:///./src/cart.ts", "src/cart.ts"),
    ("webpack-internal:///(app-pages)/./src/cart.ts", "src/cart.ts"),
    ("Unknown Source", ""),
    ("Native Method", ""),
    ("<anonymous>", ""),
]
FUNCTIONS = [
    ("com.acme.Job.lambda$pick$1", "Job.java", "com.acme.Job.pick.<lambda>", True),
    ("com.acme.Job.lambda$pick$2", "Job.java", "com.acme.Job.pick.<lambda>", True),
    ("com.acme.Job$$Lambda$41/1190035432.run", "", "com.acme.Job.<lambda>.run", True),
    ("com.acme.Job$$Lambda$112/0x0000000800c8d440.run", "", "com.acme.Job.<lambda>.run", True),
    ("com.acme.Job$$Lambda/0x00007f2b0c0a1000.run", "", "com.acme.Job.<lambda>.run", True),
    ("com.acme.Main$1.onClick", "Main.java", "com.acme.Main$<anonymous>.onClick", True),
    ("jdk.proxy.$Proxy42.save", "", "jdk.proxy.$Proxy.save", False),
    ("com.acme.Shop$$Enhanced$$3fa4b1.pay", "", "com.acme.Shop$$.pay", False),
    ("internal.GeneratedMethodAccessor3.invoke", "", "internal.GeneratedMethodAccessor.invoke", False),
    ("com.acme.Order$HibernateProxy$Ab3dEf9x.total", "", "com.acme.Order$HibernateProxy.total", False),
    ("com.acme.Order_$$_jvst1a2_3.total", "", "com.acme.Order$$.total", False),
    ("com.acme.Order$$EnhancerBySpringCGLIB$$1a2b.total", "", "com.acme.Order$$.total", False),
    ("com.acme.Order$$Lambda$31/0x0000000801.run", "", "com.acme.Order.<lambda>.run", True),
    ("internal.GeneratedAccessor217.invoke", "", "internal.GeneratedAccessor.invoke", False),
    ("Acme.B.<RunAsync>d__12.MoveNext", "B.cs", "Acme.B.RunAsync", False),
    ("Acme.B.<>c__DisplayClass3_0.<Run>b__0", "B.cs", "Acme.B.Run.<lambda>", True),
    ("Acme.B.<Run>g__Local|3_0", "B.cs", "Acme.B.Run.Local", False),
    ("Acme.List`1.Add(T item)", "B.cs", "Acme.List.Add", False),
    (r"App\Jobs\{closure}", "a.php", r"App\Jobs\{closure}", True),
    (r"{closure:App\Jobs::run():12}", "a.php", r"{closure:App\Jobs::run()}", True),
    ("main.serve.func1.2", "a.go", "main.serve.<lambda>", True),
    ("shop::cart::pay::h0123456789abcdef", "a.rs", "shop::cart::pay", False),
    ("shop::cart::{{closure}}", "a.rs", "shop::cart::{closure}", True),
    ("block (2 levels) in index", "a.rb", "index", False),
    (
        "_app_views_home__head_html_erb__2203117745019283711_47120033918800",
        "a.erb",
        "_app_views_home__head_html_erb",
        False,
    ),
    (
        "_app_views_home__head_html_erb___1190045578230017265_47120034001220",
        "a.erb",
        "_app_views_home__head_html_erb",
        False,
    ),
    ("<lambda>", "a.py", "<lambda>", True),
    ("charge", "a.py", "charge", False),
    ("Cart.pay", "a.js", "pay", False),
    ("async Cart.pay [as run]", "a.js", "pay", False),
    ("Cart/this.pay", "a.js", "pay", False),
    ("pay", "a.js", "pay", False),
    ("pay/<", "a.js", "pay", False),
    ("Object.<anonymous>", "a.js", "<anonymous>", True),
    ("", "a.js", "<anonymous>", True),
]


@pytest.mark.parametrize(("path", "expected"), FILES)
def test_files_lose_what_differs_between_machines_and_releases(path: str, expected: str) -> None:
    """Prefixes, release directories, package versions, content hashes and line numbers go."""
    assert file_name(path) == expected


@pytest.mark.parametrize(("name", "file", "expected", "anonymous"), FUNCTIONS)
def test_functions_lose_what_is_generated(name: str, file: str, expected: str, anonymous: bool) -> None:
    """Generated parts become placeholders, the enclosing name stays, browser notations are equal."""
    assert function_name(name, file) == (expected, anonymous)


def key(*frames: tuple[str, str, bool], message: str = "boom", kind: str = "Error") -> str:
    """Return the key of one exception with (function, file, in_app) frames."""
    listed = [Frame(function, file, line, in_app=in_app) for line, (function, file, in_app) in enumerate(frames, 1)]
    return grouping_key(Event(message, exceptions=[ExceptionInfo(kind, message, listed)]), 1).key


def test_recursion_and_cycles_collapse() -> None:
    """How often a function called itself, or two called each other, is no difference."""
    a, b, main = ("walk", "a.py", True), ("visit", "a.py", True), ("main", "m.py", True)
    assert key(a, main) == key(a, a, a, main)
    assert key(a, b, main) == key(a, b, a, b, a, b, main)
    assert key(a, main) != key(a, b, main)


def test_at_most_eight_frames_count_innermost_first() -> None:
    """Eight in-app frames at most."""
    frames = [(f"step_{name}", "a.py", True) for name in "abcdefghij"]
    assert key(*frames[:MAX_FRAMES]) == key(*frames)
    assert key(*frames[: MAX_FRAMES - 1]) != key(*frames)


def test_library_frames_count_only_without_own_ones() -> None:
    """Library frames are used when no in-app frame exists."""
    own, library, other = ("pay", "a.py", True), ("send", "lib.py", False), ("recv", "lib.py", False)
    assert key(library, own) == key(other, own) == key(own)
    assert key(library) != key(other)


def test_the_message_decides_where_the_place_says_too_little() -> None:
    """Anonymous functions and raising helpers add the message, named functions do not."""
    for vague in (("<lambda>", "a.py", True), ("Guard.fail", "Guard.java", True), ("assert_valid", "a.py", True)):
        assert key(vague, message="no stock") != key(vague, message="no price")
        assert key(vague, message="order 1 lost") == key(vague, message="order 2 lost")
    named = ("pay", "a.py", True)
    assert key(named, message="no stock") == key(named, message="no price")


def test_frames_without_function_and_file_are_no_places() -> None:
    """An exception whose frames say nothing is grouped by class and message."""
    assert key(("", "", True), message="no stock") != key(("", "", True), message="no price")
    assert key(("", "<anonymous>", True), message="no stock") == key(message="no stock")


def test_a_deep_stack_is_cheap() -> None:
    """A stack of 100,000 frames costs no more than its beginning."""
    frames = [(f"f{'x' * (n % 50)}", "a.py", True) for n in range(100_000)]
    assert key(*frames) == key(*frames[:1000])
