"""A real browser on real servers: `snaglist serve` from the wheel, on a data directory filled with 5,000 known events.

Every page that a test opens is watched: whatever it writes to the console as a warning or error, throws, or
does against the content security policy fails the test, unless the test says that it expects it.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

# As seed.py makes them.
HOSTILE = "Rendering <img src=x onerror=alert(1)> failed"
MANY = 70


# -- servers


MadeOnce = Callable[[str, Callable[[Path], None]], Path]
# -P: not the checkout, whatever folder the tests run in.
SNAGLIST = ("-P", "-c", "from snaglist.plugins.start import main; main()")


def environment(data: Path, **more: str) -> dict[str, str]:
    """The environment of a command that works on a data directory and reads no other configuration."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("SERVICE_", "PYTHON"))}
    return env | {"SERVICE_DATA": str(data), "SERVICE_INGESTION_INTERVAL_SECONDS": "0", **more}


def ran(*command: str | Path, **options: Any) -> None:
    """Run a command that ends well; what it printed is shown when it does not."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def install(wheel: Path, place: Path) -> None:
    """Install the wheel of this checkout, alone, into a new environment.

    Its dependencies come from the environment of the tests, by a path file: those in there are not followed, so the
    checkout that is installed there for editing is out of reach.
    """
    ran(sys.executable, "-m", "venv", "--without-pip", str(place))
    python = place / "bin" / "python"
    ran(sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index", str(wheel))
    own = next((place / "lib").glob("python*/site-packages"))
    (own / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    ran(python, "-I", "-c", f"import snaglist.kernel as k; assert k.__file__.startswith({str(own)!r}), k.__file__")


class Servers:
    """Servers of the installed product on data directories with known events."""

    def __init__(self, wheel: Path, made_once: MadeOnce) -> None:
        self._made_once = made_once
        self.python = made_once("installed", lambda place: install(wheel, place)) / "bin" / "python"

    def fill(self, data: Path) -> None:
        """Make a data directory with the events of `seed.py`."""
        seed = Path(__file__).with_name("seed.py")
        seeded = self._made_once("seeded", lambda place: ran(self.python, seed, place, env=environment(place)))
        shutil.copytree(seeded, data)

    def run(self, *arguments: str, data: Path) -> None:
        """Run a command of `snaglist` that ends."""
        ran(self.python, *SNAGLIST, *arguments, env=environment(data))

    @contextmanager
    def served(self, data: Path, *, port: int = 0, python_path: Path | None = None, **variables: str) -> Iterator[str]:
        """Run `snaglist serve` on a data directory and a port, free when it is 0; gives its URL."""
        env = environment(data, **variables)
        if python_path:
            env["PYTHONPATH"] = str(python_path)
        command = [self.python, *SNAGLIST, "serve", "--port", str(port)]
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r" on (http://\S+/)", line)
            try:
                assert found, f"the server did not start: {line}"
                yield found[1]
            finally:
                process.terminate()


@dataclass
class Deployment:
    """A running server and what is known of its issues."""

    url: str
    hostile: str = HOSTILE
    issues: int = MANY + 1


@pytest.fixture(scope="session")
def servers(product_wheel: Path, made_once: MadeOnce) -> Servers:
    return Servers(product_wheel, made_once)


@pytest.fixture(scope="module")
def deployment(browser: Browser, tmp_path_factory: pytest.TempPathFactory, servers: Servers) -> Iterator[Deployment]:
    """A server with issues, its own for each file of tests."""
    data = tmp_path_factory.mktemp("filled") / "data"
    servers.fill(data)
    with servers.served(data) as url:
        yield Deployment(url)


@pytest.fixture
def empty_deployment(browser: Browser, tmp_path: Path, servers: Servers) -> Iterator[Deployment]:
    """A server that never received anything."""
    with servers.served(tmp_path / "data") as url:
        yield Deployment(url)


# -- pages


@dataclass
class Watch:
    """What pages did that they should not do; `expect` names what a test provokes."""

    problems: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def expect(self, pattern: str) -> None:
        """Allow problems whose text matches the pattern."""
        self.expected.append(pattern)

    def unexpected(self) -> list[str]:
        """Everything that no pattern allows."""
        return [text for text in self.problems if not any(re.search(pattern, text) for pattern in self.expected)]

    def follow(self, page: Page) -> None:
        """Listen to a page."""
        page.on("console", lambda m: self.problems.append(m.text) if m.type in ("warning", "error") else None)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.expose_function("reportViolation", lambda text: self.problems.append(f"policy: {text}"))
        page.add_init_script(
            "addEventListener('securitypolicyviolation', (e) => reportViolation(`${e.violatedDirective} ${e.sample}`))"
        )


@pytest.fixture
def watch() -> Iterator[Watch]:
    watching = Watch()
    yield watching
    assert watching.unexpected() == []


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, watch: Watch) -> Iterator[OpenPage]:
    """Open a watched page: `open_page(url, **options of the browser context)`."""
    contexts: list[BrowserContext] = []

    def opened(url: str, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(15_000)
        contexts.append(context)
        page = context.new_page()
        watch.follow(page)
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        for page in context.pages:
            # A request that still waits for its answer would fail in the next test.
            page.unroute_all(behavior="ignoreErrors")
        context.close()


@pytest.fixture
def lose_service(watch: Any) -> Callable[[Page], None]:
    """Let no answer reach a page whose clock is installed, until it says that it has none."""
    watch.expect("net::ERR_")

    def lose(page: Page) -> None:
        # The page itself too: it is what is asked for while nothing else is, and one answer is enough to be live.
        page.route("**/*", lambda route: route.abort())
        for _ in range(3):
            with page.expect_event("requestfailed"):
                page.clock.run_for(60_000)
        expect(page.locator(".connection")).to_have_text("Reconnecting …")

    return lose


@pytest.fixture
def page(open_page: OpenPage, deployment: Deployment) -> Page:
    """The list of issues of the filled deployment."""
    opened = open_page(deployment.url)
    opened.locator(".row").first.wait_for()
    return opened
