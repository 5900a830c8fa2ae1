"""Adding a policy part by the steps in CONTRIBUTING.md works, and leaving one out is noticed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STEP = re.compile(r"```python\n# (\S+\.pyi?), (.*?)\n(.*?)```", re.DOTALL)

USE_IT = """
import numpy as np
import almoner as al
from almoner.policy.base import PARTS
from almoner.policy.recipes import laplace_rounded
from almoner.kernels.indices import index
from almoner.testing import TINY, check_policy
assert "Laplace" in PARTS["rewards"][1] and "Laplace" in al.__all__
policy = laplace_rounded()
assert policy.rewards == al.Laplace()
assert al.Policy.from_json(policy.to_json()) == policy
value = index(10, 0.0, 0.0, 0.75, 0.5, 4.0, np.uint64(0))
assert value == 4 / 6, f"(3 + 1) / (4 + 2), not {value}"
problem = al.Problem(
    context_probs=[0.4, 0.6], reward_means=[[0.2, 0.8], [0.1, 0.4]], horizon=60, budget=24)
with np.errstate(over="ignore"):
    played = al.simulate(problem, policy, runs=3, seed=1)
assert played.spend.max() <= 24 and played.reward.values.min() > 0
with np.errstate(over="ignore"):
    check_policy(policy, problems={name: TINY[name] for name in ("ordinary", "unequal costs")})
"""


def steps() -> list[tuple[str, str, str]]:
    return STEP.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))


def follow(step: tuple[str, str, str], package: Path) -> None:
    path, where, code = step
    file = package.parent / path
    text = file.read_text(encoding="utf-8")
    anchor = re.search(r'before "(.*)"', where)
    if anchor is None:
        file.write_text(f"{text}\n\n{code}", encoding="utf-8")
    else:
        start = text.index("    " + anchor.group(1))
        file.write_text(text[:start] + code + text[start:], encoding="utf-8")


def use(package: Path) -> subprocess.CompletedProcess[str]:
    """Use the new part without compiling, which would take a quarter of a minute."""
    environment = {**os.environ, "PYTHONPATH": str(package), "NUMBA_DISABLE_JIT": "1"}
    return subprocess.run(
        [sys.executable, "-c", USE_IT],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def package(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "src"


def test_the_steps_of_contributing_add_a_part(package: Path) -> None:
    assert len(steps()) == 5
    for step in steps():
        follow(step, package)
    done = use(package)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("left_out", "message"),
    [
        ("in index", "(3 + 1) / (4 + 2), not nan"),
        ("in clock_level", "on the problem 'ordinary' the policy has rewards without a level"),
    ],
)
def test_a_part_without_its_branch_is_noticed(package: Path, left_out: str, message: str) -> None:
    for step in steps():
        if left_out not in step[1]:
            follow(step, package)
    done = use(package)
    assert done.returncode != 0
    assert message in done.stderr


PATH = re.compile(r"`((?:[\w.]+/)*[\w.]+(?:/|\.py|\.pyi|\.yml|\.toml))`")


def test_paths_in_contributing_exist() -> None:
    paths = PATH.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    homes = (ROOT, ROOT / "src", ROOT / "src" / "almoner", ROOT / "src" / "almoner" / "service")
    missing = [path for path in paths if not any((home / path).exists() for home in homes)]
    assert len(paths) > 50
    assert not missing
