#!/usr/bin/env python3
"""Change the code in small ways and see whether the tests notice: `python scripts/mutants.py [NAME…]`.

Each area has the modules to change and the tests that must fail then, on SQLite. cosmic-ray makes the changes, one
after another, in a copy of this checkout; it is installed for this (`pip install cosmic-ray`), nothing else needs it.
Prints how many changes were noticed of how many, then those that were not. `--every 10` tries each tenth change,
`--every 10 --offset 3` other ones: tests that were written for one sample are measured by another.
"""

import argparse
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
AREAS = {
    "gate": (
        ["kernel/gate.py", "kernel/origin.py", "kernel/auth.py"],
        ["tests/kernel/test_gate.py", "tests/kernel/test_hosts_and_origins.py", "tests/kernel/test_keys.py",
         "tests/kernel/test_queries_and_bodies.py", "tests/kernel/test_self_authenticating.py",
         "tests/kernel/test_malformed_plugins.py::test_in_a_direct_hook",
         "tests/kernel/test_hooks.py"],
    ),
    "storing": (
        ["plugins/issues/storing"],
        ["tests/areas/issues/writing/test_bounds.py", "tests/areas/issues/writing",
         "tests/areas/logs/test_reindexing.py"],
    ),
    "tags": (
        ["plugins/tags/rules.py", "plugins/tags/rebuild.py", "plugins/issues/above.py"],
        ["tests/areas/tags", "tests/areas/issues/writing/test_tagging.py"],
    ),
    "rotation": (
        ["plugins/logs/identify"],
        ["tests/areas/logs/test_decide.py", "tests/areas/logs/test_identity.py", "tests/areas/logs/test_rotation.py",
         "tests/areas/logs/test_reading_files.py", "tests/areas/logs/test_shrinking.py",
         "tests/areas/logs/test_incoming.py", "tests/areas/logs/test_slow_drops.py",
         "tests/areas/logs/test_deletion.py::test_a_copy_does_not_bring_it_back"],
    ),
    "jobs": (
        ["plugins/system/jobs"],
        ["tests/kernel/test_job_bounds.py", "tests/kernel/test_jobs.py", "tests/kernel/test_activity.py",
         "tests/databases/test_schema_history.py::test_steps_make_the_live_tables"],
    ),
    "signatures": (
        ["plugins/tracker/signatures.py", "plugins/alerting/types/webhook.py"],
        ["tests/areas/tracker/test_webhooks.py", "tests/areas/alerting/test_delivery.py",
         "tests/kernel/test_architecture.py::test_secrets_are_compared_in_constant_time"],
    ),
}  # fmt: skip
# Of each kind of change one: what only differs in the operator that is put in place tells nothing more.
KINDS = (
    "AddNot", "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "NumberReplacer",
    "ExceptionReplacer", "ZeroIterationForLoop", "ReplaceBreakWithContinue", "ReplaceContinueWithBreak",
    "ReplaceUnaryOperator_Delete_Not", "ReplaceBinaryOperator_Add_Sub", "ReplaceBinaryOperator_Sub_Add",
    "ReplaceBinaryOperator_Mul_Div", "ReplaceComparisonOperator_Is_IsNot", "ReplaceComparisonOperator_IsNot_Is",
    "ReplaceComparisonOperator_Eq_NotEq", "ReplaceComparisonOperator_NotEq_Eq", "ReplaceComparisonOperator_Lt_LtE",
    "ReplaceComparisonOperator_LtE_Lt", "ReplaceComparisonOperator_Gt_GtE", "ReplaceComparisonOperator_GtE_Gt",
)  # fmt: skip
CONFIG = """\
[cosmic-ray]
module-path = {modules}
timeout = {seconds}
excluded-modules = []
test-command = {command!r}
[cosmic-ray.distributor]
name = "local"
"""


def copy_of_checkout(folder: Path) -> Path:
    """Copy what git knows, as it stands."""
    made = folder / "checkout"
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        source, place = ROOT / name, made / name
        if source.is_symlink() or source.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, place, follow_symlinks=False)
    return made


def run(area: str, every: int, offset: int) -> bool:
    """Try the changes of an area; True when nine of ten were noticed."""
    modules, tests = AREAS[area]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        checkout = copy_of_checkout(folder)
        # The copy comes before the checkout that is installed.
        command = ["env", f"PYTHONPATH={checkout}", "TEST_ENGINES=sqlite", "PYTHONDONTWRITEBYTECODE=1"]
        command += [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *tests]
        begun = time.monotonic()
        if subprocess.run(command, cwd=checkout, stdout=subprocess.DEVNULL, check=False).returncode:
            sys.exit(f"{area}: its tests fail without any change")
        seconds = 30 + 3 * (time.monotonic() - begun)  # a change may well make it run for ever
        config, session = folder / "config.toml", folder / "session.sqlite"
        paths = [str(checkout / module) for module in modules]
        config.write_text(CONFIG.format(modules=paths, seconds=seconds, command=" ".join(command)), encoding="utf-8")
        cosmic_ray("init", config, session, cwd=checkout)
        with closing(sqlite3.connect(session)) as db, db:
            choose(db, every, offset)
        cosmic_ray("exec", config, session, cwd=checkout)
        with closing(sqlite3.connect(session)) as db:
            return tell(area, db)


def cosmic_ray(*arguments: str | Path, cwd: Path) -> None:
    """Run a command of cosmic-ray."""
    subprocess.run([sys.executable, "-m", "cosmic_ray.cli", *map(str, arguments)], cwd=cwd, check=True)


def choose(db: sqlite3.Connection, every: int, offset: int) -> None:
    """Leave the changes of the wanted kinds, and of those each so-manieth from the offset on."""
    found = db.execute(
        "SELECT job_id, operator_name, module_path, start_pos_row, start_pos_col FROM mutation_specs"
        " ORDER BY module_path, start_pos_row, rowid"
    )
    jobs = [job for job, operator, *place in found if operator.removeprefix("core/") in KINDS and not is_void(*place)]
    kept = set(jobs[offset::every])
    for (job,) in db.execute("SELECT job_id FROM work_items").fetchall():
        if job not in kept:
            db.execute("DELETE FROM mutation_specs WHERE job_id = ?", (job,))
            db.execute("DELETE FROM work_items WHERE job_id = ?", (job,))


def is_void(module: str, row: int, column: int) -> bool:
    """Tell whether a change there is none: of the star of a list of parameters, or of what mypy checks."""
    line = Path(module).read_text(encoding="utf-8").splitlines()[row - 1]
    return line[column:].startswith("*,") or line.startswith("@dataclass(")


def tell(area: str, db: sqlite3.Connection) -> bool:
    """Print what came of the changes; True when nine of ten were noticed."""
    results = db.execute(  # without a diff: a change that cosmic-ray could not make
        "SELECT test_outcome, diff, module_path, start_pos_row FROM work_results JOIN mutation_specs USING (job_id)"
        " WHERE diff IS NOT NULL ORDER BY module_path, start_pos_row"
    ).fetchall()
    survived = [row[1:] for row in results if "KILLED" not in str(row[0])]
    noticed = len(results) - len(survived)
    print(f"{area}: {noticed} of {len(results)} changes were noticed")
    for diff, module, row in survived:
        print(f"{Path(module).parent.name}/{Path(module).name}:{row}")
        print("\n".join(line for line in diff.splitlines()[3:] if line[:1] in "+-"), flush=True)
    return noticed >= 0.9 * len(results)


def main() -> None:
    """Run the areas that are named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("areas", nargs="*", metavar="NAME", help=", ".join(AREAS))
    parser.add_argument("--every", type=int, default=1, metavar="N", help="try each Nth change")
    parser.add_argument("--offset", type=int, default=0, metavar="K", help="begin with the change K")
    given = parser.parse_args()
    if unknown := set(given.areas) - AREAS.keys():
        parser.error(f"there is no {', '.join(unknown)}")
    passed = [run(area, given.every, given.offset) for area in given.areas or AREAS]
    sys.exit(not all(passed))


if __name__ == "__main__":
    main()
