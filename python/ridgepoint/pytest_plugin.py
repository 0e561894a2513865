"""`pytest --ridgepoint`: CUDA kernels run on the emulated driver, and what is found in them fails the test that launched them.

The driver executes a launch in the call that makes it, and writes a JSON file per finding, anew each time that it finds the
same again. So files that are new after a phase of a test are that test's.
"""

import json
import os
import sys
from pathlib import Path

import pytest

from ridgepoint import program

# The driver's folders, as `ridgepoint emulate` sets them: for findings, and for what was launched.
FINDINGS = "RIDGEPOINT_DRIVER_FINDINGS"
RECORD = "RIDGEPOINT_DRIVER_RECORD"


def pytest_addoption(parser):
    parser.getgroup("ridgepoint").addoption(
        "--ridgepoint",
        action="store_true",
        help="run CUDA kernels on Ridgepoint's emulated driver; findings fail the test that launched the kernel",
    )


# Around all others: before conftest files load the driver, and before pytest redirects standard output.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config):
    if early_config.known_args_namespace.ridgepoint:
        if FINDINGS not in os.environ:
            start_again(early_config.invocation_params.args)
        if worker := os.environ.get("PYTEST_XDIST_WORKER"):
            # Processes that run tests at the same time tell their findings apart by folders.
            os.environ[FINDINGS] = os.path.join(os.environ[FINDINGS], worker)
    return (yield)


def start_again(arguments):
    """Replaces this process by the same pytest under `ridgepoint emulate`: a loaded driver cannot be exchanged."""
    if sys.argv[1:] != list(arguments):
        raise pytest.UsageError(
            "--ridgepoint: pytest was called by another program; start that one by `ridgepoint emulate`"
        )
    sys.stdout.flush()
    sys.stderr.flush()
    command = ["ridgepoint", "emulate", "--program-status", sys.executable, *sys.orig_argv[1:]]
    os.execv(program(), command)


def pytest_configure(config):
    if config.getoption("ridgepoint"):
        config.pluginmanager.register(Judge(Folder(os.environ[FINDINGS])), "ridgepoint-judge")


class Folder:
    """The folder of findings, and which of them have been seen."""

    def __init__(self, path):
        self.path = Path(path)
        self.seen = {}
        self.benign = []
        self.new()

    def new(self):
        """Returns what was found since the last call, but for benign findings, which are kept."""
        findings = []
        for path in sorted(self.path.glob("finding-*.json")):
            try:
                written = path.stat().st_mtime_ns
                finding = json.loads(path.read_text())
            except (OSError, ValueError):
                # Another process is writing it; the next call reads it.
                continue
            state = (written, finding["times"])
            if self.seen.get(path) != state:
                is_new = path not in self.seen
                self.seen[path] = state
                if finding["severity"] != "benign":
                    findings.append(finding)
                elif is_new:
                    self.benign.append(finding)
        return findings


class Judge:
    """Fails what findings belong to: phases of tests, and modules that launch as they are collected."""

    def __init__(self, folder):
        self.folder = folder
        self.has_tested = False
        self.has_launched = True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        findings = self.folder.new()
        if not findings:
            return report
        if hasattr(report, "wasxfail"):
            report.outcome = "skipped"
            return report
        if report.failed:
            report.sections.append(("The test's own error", str(report.longrepr)))
        report.outcome = "failed"
        report.longrepr = failure(item, described(findings, ended(item, call.excinfo)))
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector):
        report = yield
        if findings := self.folder.new():
            report.outcome = "failed"
            report.longrepr = described(findings, [])
        return report

    def pytest_runtest_logreport(self, report):
        self.has_tested = True

    # A check of nothing is none: without a launch the tests have not met the emulated driver.
    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session, exitstatus):
        is_worker = "PYTEST_XDIST_WORKER" in os.environ
        if is_worker or not self.has_tested or exitstatus != pytest.ExitCode.OK:
            return
        self.has_launched = any(Path(os.environ[RECORD]).iterdir())
        if not self.has_launched:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED

    def pytest_terminal_summary(self, terminalreporter):
        for finding in self.folder.benign:
            terminalreporter.write_line(f"ridgepoint: benign: {finding['text']}")
        if not self.has_launched:
            terminalreporter.write_line(
                "ridgepoint: nothing was checked: the tests have launched no kernel through the CUDA driver", red=True
            )


def described(findings, lines):
    """Returns the text of findings; its first line is for the summary of all tests."""
    first = findings[0]
    kernel = first["launch"]["kernel"] if first["launch"] else "the host"
    place = f" at {first['now']['source']}" if first["now"] else ""
    more = f", and {len(findings) - 1} more" if len(findings) > 1 else ""
    text = [f"ridgepoint: {kernel}: {first['kind']}{place}{more}"]
    for finding in findings:
        text.append(f"  {finding['text']}")
        if launch := finding["launch"]:
            seed = "" if launch["seed"] is None else f", under seed {launch['seed']}"
            grid, block = tuple(launch["grid"]), tuple(launch["block"])
            text.append(f"    in <<<{grid}, {block}, {launch['dynamic_shared']} bytes>>>{seed}")
    return "\n".join(text + lines)


def ended(item, error):
    """Returns how the test itself has ended, and at which of its lines; nothing where it has passed."""
    if error is None:
        return []
    own = [entry for entry in error.traceback if Path(str(entry.path)) == item.path]
    place = f"{item.path.name}:{own[-1].lineno + 1}: " if own else ""
    return [f"  {place}{error.exconly(tryshort=True).splitlines()[0]:.120}"]


def failure(item, text):
    """Returns a text as pytest shows a failure without a traceback."""
    try:
        pytest.fail(text, pytrace=False)
    except pytest.fail.Exception:
        return item.repr_failure(pytest.ExceptionInfo.from_current())
