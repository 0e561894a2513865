"""The plugin on programs that call the driver by ctypes: these need nothing but pytest and the wheel."""

import json
import os
from pathlib import Path

import pytest

PTX = Path(__file__).parents[2] / "tests/cli/emulate_command/saxpy.ptx"

# A kernel is launched with more threads than its vectors have elements, or with as many.
CALLS = f"""
import ctypes

def saxpy(n, expected=0):
    cuda = ctypes.CDLL("libcuda.so.1")
    def call(name, *arguments):
        status = getattr(cuda, name)(*arguments)
        if status:
            raise RuntimeError(f"{{name}}: {{status}}")
    context, module, function = (ctypes.c_void_p() for _ in range(3))
    x, y = (ctypes.c_uint64() for _ in range(2))
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoad", ctypes.byref(module), {str(PTX)!r}.encode())
    call("cuModuleGetFunction", ctypes.byref(function), module, b"saxpy")
    for vector in (x, y):
        call("cuMemAlloc_v2", ctypes.byref(vector), ctypes.c_size_t(4096))
        call("cuMemsetD32_v2", vector, 0, ctypes.c_size_t(1024))
    values = ctypes.c_int(n), ctypes.c_float(2), x, y
    pointers = (ctypes.c_void_p * 4)(*(ctypes.addressof(it) for it in values))
    call("cuLaunchKernel", function, (n + 255) // 256, 1, 1, 256, 1, 1, 0, None, pointers, None)
"""


def run(pytester, source, *options):
    pytester.makepyfile(calls=CALLS)
    pytester.makepyfile(source)
    return pytester.runpytest_subprocess("--ridgepoint", *options)


def findings(pytester):
    return [json.loads(it.read_text()) for it in (pytester.path / "ridgepoint-findings").rglob("*.json")]


def test_a_finding_fails_the_test_that_launched(pytester):
    result = run(
        pytester,
        """
        from calls import saxpy

        def test_right():
            saxpy(1024)

        def test_beyond():
            saxpy(1280)

        def test_beyond_again():
            saxpy(1280)

        def test_right_again():
            saxpy(1000)
        """,
    )
    result.assert_outcomes(passed=2, failed=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "*_ test_beyond _*",
            "ridgepoint: saxpy: out of bounds at saxpy.cu:3",
            "  saxpy: out of bounds: block [[]4, 0, 0], thread [[]0, 0, 0] reads element 1024 of `parameter 2` (of 1024) at saxpy.cu:3",
            "    in <<<(5, 1, 1), (256, 1, 1), 0 bytes>>>",
            "  *.py:7: RuntimeError: cuLaunchKernel: 700",
            "FAILED *::test_beyond - *",
        ]
    )
    [finding] = findings(pytester)
    assert (finding["kind"], finding["times"]) == ("out of bounds", 2)


def test_unittest_and_the_phases_of_a_test_are_judged_too(pytester):
    result = run(
        pytester,
        """
        import contextlib, unittest
        import pytest
        from calls import saxpy

        class Case(unittest.TestCase):
            def test_beyond(self):
                saxpy(1280)

            def test_caught(self):
                with self.assertRaises(RuntimeError):
                    saxpy(1281)

        @pytest.fixture
        def beyond():
            yield
            with contextlib.suppress(RuntimeError):
                saxpy(1282)

        def test_teardown(beyond):
            pass

        @pytest.mark.xfail
        def test_expected():
            saxpy(1283)
        """,
    )
    result.assert_outcomes(passed=1, failed=2, errors=1, xfailed=1)
    assert "2 failed" in result.stdout.str()


def test_a_run_without_a_finding_passes_and_one_without_a_launch_is_none(pytester):
    result = run(pytester, "from calls import saxpy\ndef test_right(): saxpy(1024)")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.OK and not (pytester.path / "ridgepoint-findings").exists()
    result = run(pytester, "def test_nothing(): pass")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["ridgepoint: nothing was checked*"])


def test_a_module_that_launches_as_it_is_collected_is_an_error(pytester):
    result = run(
        pytester,
        """
        import contextlib
        from calls import saxpy
        with contextlib.suppress(RuntimeError):
            saxpy(1280)

        def test_nothing():
            pass
        """,
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["ridgepoint: saxpy: out of bounds at saxpy.cu:3"])


def test_without_the_option_nothing_is_changed(pytester):
    pytester.makepyfile("import os\ndef test_it(): assert 'RIDGEPOINT_DRIVER_FINDINGS' not in os.environ")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_processes_of_xdist_tell_their_findings_apart(pytester):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    tests = "\n".join(f"def test_{n}(): saxpy({1280 if n % 2 else 1024})" for n in range(8))
    result = run(pytester, "from calls import saxpy\n" + tests, "-n", "2")
    result.assert_outcomes(passed=4, failed=4)


@pytest.fixture(autouse=True)
def own_environment(monkeypatch):
    """These tests start `pytest --ridgepoint` themselves."""
    for name in [it for it in os.environ if it.startswith(("RIDGEPOINT_DRIVER_", "PYTEST_XDIST"))]:
        monkeypatch.delenv(name)
