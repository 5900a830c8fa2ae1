from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from almoner.compilation import progress
from almoner.jit import jit_callable, jit_entry, jit_inline, jit_large

SHARED = """
import sys
import numpy as np
from almoner.kernels.draws import round_key, uniform, stream_key
from almoner.kernels.environment import streams_of
print(float(uniform(np.uint64(7), 3)), int(streams_of(np.uint64(1), 2)[0]))
"""


@jit_inline
def squared(x: Any) -> Any:
    return x * x


@jit_callable
def summed(values: Any) -> Any:
    total = 0.0
    for value in values:
        total += squared(value)
    return total


@jit_large
def fill(values: Any, x: Any) -> Any:
    for i in range(len(values)):
        values[i] = squared(x)


@jit_entry
def filled_sum(values: Any, x: Any) -> Any:
    fill(values, x)
    return summed(values)


def test_kernels_contain_their_steps() -> None:
    values = np.zeros(3)
    assert filled_sum(values, 2.0) == 48.0
    assert values.tolist() == [4.0, 4.0, 4.0]


def test_steps_can_be_called_from_python_before_and_after_a_kernel_that_contains_them() -> None:
    values = np.arange(3.0)
    assert summed(values) == 5.0
    assert filled_sum(np.zeros(2), 1.0) == 2.0
    assert summed(values) == 5.0
    fill(values, 3.0)
    assert values.tolist() == [9.0, 9.0, 9.0]


def test_a_step_has_no_machine_code_and_its_kernel_has() -> None:
    filled_sum(np.zeros(1), 1.0)
    step: Any = squared
    kernel: Any = filled_sum
    (inlined,), (compiled,) = step.overloads.values(), kernel.overloads.values()
    assert len(inlined.library._get_compiled_object()) < len(
        compiled.library._get_compiled_object()
    )
    assert inlined.library.get_pointer_to_function(inlined.fndesc.llvm_func_name) == 0


def test_what_is_compiled_is_reported_with_its_steps() -> None:
    reports: list[tuple[str | None, int]] = []

    @jit_inline
    def step(x: Any) -> Any:
        return x + 1

    @jit_entry
    def kernel(x: Any) -> Any:
        return step(x)

    progress.report_to(lambda name, within: reports.append((name, within)))
    try:
        assert [kernel(1), kernel(2)] == [2, 3]
    finally:
        progress.report_to(None)
    assert reports == [("kernel", 0), ("step", 1), (None, 0)]


def test_the_log_names_kernels_but_not_their_steps() -> None:
    lines: list[str] = []
    progress.write_kernels(lines.append)
    try:
        progress.begin("advance", within=0)
        progress.begin("decide", within=1)
        progress.end()
    finally:
        progress.report_to(None)
    assert lines == ["compiling the kernel advance, once after an installation"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("terminal", [io.StringIO(), Terminal()])
def test_a_terminal_shows_a_line_and_clears_it(terminal: io.StringIO) -> None:
    progress.show_on(terminal)
    try:
        progress.begin("advance", within=0)
        progress.end()
    finally:
        progress.report_to(None)
    shown = terminal.getvalue().split("\r\x1b[2K")
    if terminal.isatty():
        assert shown == ["", "compiling kernels, once after an installation: advance …", ""]
    else:
        assert shown == [""]


def test_another_process_finds_the_kernels_on_the_disk(tmp_path: Path) -> None:
    def run() -> tuple[str, dict[Path, int]]:
        output = subprocess.run(
            [sys.executable, "-c", SHARED],
            env={
                "NUMBA_CACHE_DIR": str(tmp_path),
                "PATH": "",
                "PYTHONPATH": str(Path(progress.__file__).parents[2]),
            },
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        return output, {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb*")}

    first, files = run()
    assert files
    assert run() == (first, files)
