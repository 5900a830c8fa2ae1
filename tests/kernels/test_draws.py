"""The generator against its published outputs, and its draws against their laws."""

from __future__ import annotations

import ast
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from almoner.kernels import draws
from almoner.kernels.draws import (
    BINARISE_LANE,
    CONTEXTS,
    POLICY,
    REDRAW_LANE,
    REWARDS,
    SERVE_LANE,
    THOMPSON_LANE,
    TIE_LANE,
    beta,
    gamma,
    mix,
    round_key,
    stream_key,
    uniform,
)
from almoner.kernels.live import REDRAWS
from almoner.types import Floats

GOLDEN = 0x9E3779B97F4A7C15
SPLITMIX_FROM_ZERO = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
"""First outputs of Vigna's splitmix64.c with its state at 0."""

COUNT = 40_000
ERRORS = 4.0
"""Standard errors that an average may be off: one test in 16,000 would fail on a new seed."""


def keys(stream: int = 11, count: int = COUNT) -> list[np.uint64]:
    return [np.uint64(round_key(np.uint64(stream), t)) for t in range(count)]


def lane(number: int, stream: int = 11) -> Floats:
    return np.array([uniform(key, number) for key in keys(stream)])


def assert_moments(values: Floats, mean: float, variance: float, kurtosis: float) -> None:
    """Var(s²) is (μ₄ − σ⁴)/n up to a term of 1/n²; ``kurtosis`` is μ₄/σ⁴."""
    n = len(values)
    assert abs(values.mean() - mean) < ERRORS * math.sqrt(variance / n)
    assert abs(values.var() - variance) < ERRORS * variance * math.sqrt((kurtosis - 1) / n)


def test_round_keys_are_the_outputs_of_splitmix64_after_that_many_steps() -> None:
    assert [round_key(np.uint64(0), t) for t in (1, 2, 3)] == SPLITMIX_FROM_ZERO
    assert mix(np.uint64(GOLDEN)) == SPLITMIX_FROM_ZERO[0]


def test_lanes_hold_the_key_itself_and_then_the_outputs_of_splitmix64_from_it() -> None:
    lanes = [int(uniform(np.uint64(0), number) * 2**53) for number in (0, 1, 2, 3)]
    assert lanes == [0, *(output >> 11 for output in SPLITMIX_FROM_ZERO)]


def test_uniform_spans_the_unit_interval_without_its_upper_end() -> None:
    assert uniform(np.uint64(0), 0) == 0.0
    assert uniform(np.uint64(2**64 - 1), 0) == 1.0 - 2.0**-53
    assert uniform(np.uint64(2**63), 0) == 0.5


@pytest.mark.parametrize("number", [0, 1, 2, 8])
def test_each_lane_is_uniform(number: int) -> None:
    values = lane(number)
    assert_moments(values, 1 / 2, 1 / 12, 9 / 5)
    assert stats.kstest(values, "uniform").pvalue > 1e-4


def test_lanes_rounds_and_streams_are_uncorrelated() -> None:
    """The correlation of n independent pairs has a standard error of 1/√n."""
    base = lane(0)
    others = [lane(1), lane(2), lane(8), np.roll(base, 1), lane(0, stream=12)]
    correlations = [np.corrcoef(base, other)[0, 1] for other in others]
    correlations += [np.corrcoef(one, two)[0, 1] for one, two in pairwise(others[:3])]
    assert max(np.abs(correlations)) < ERRORS / math.sqrt(COUNT)


def test_every_stream_of_every_replication_and_seed_has_its_own_key() -> None:
    keys = {
        stream_key(np.uint64(root), run, stream)
        for root in (0, 1, 2**63)
        for run in range(1000)
        for stream in (CONTEXTS, REWARDS, POLICY)
    }
    assert len(keys) == 3 * 1000 * 3


def test_streams_of_one_replication_are_uncorrelated_round_by_round() -> None:
    streams = [int(stream_key(np.uint64(5), 3, stream)) for stream in (CONTEXTS, REWARDS, POLICY)]
    table = np.corrcoef([lane(0, stream) for stream in streams])
    assert np.abs(table - np.eye(3)).max() < ERRORS / math.sqrt(COUNT)


@pytest.mark.parametrize("shape", [0.2, 0.9, 1.0, 1.7, 30.0])
def test_gamma_draws_have_the_moments_and_the_law_of_gamma(shape: float) -> None:
    values = np.array([gamma(shape, key) for key in keys()])
    assert_moments(values, shape, shape, 3 + 6 / shape)
    assert stats.kstest(values, stats.gamma(shape).cdf).pvalue > 1e-4


@pytest.mark.parametrize(("a", "b"), [(0.3, 0.7), (0.5, 4.0), (1.0, 1.0), (3.0, 2.0), (80.0, 20.0)])
def test_beta_draws_have_the_moments_and_the_law_of_beta(a: float, b: float) -> None:
    values = np.array([beta(a, b, key) for key in keys()])
    mean, variance, excess = stats.beta(a, b).stats("mvk")
    assert_moments(values, float(mean), float(variance), 3 + float(excess))
    assert stats.kstest(values, stats.beta(a, b).cdf).pvalue > 1e-4


def test_beta_with_shapes_near_zero_has_all_its_mass_at_the_ends() -> None:
    """Both Gamma draws underflow to 0, and the draw is 1 with a probability of a quarter."""
    values = np.array([beta(1e-4, 3e-4, key) for key in keys()])
    inside = np.mean((values > 1e-9) & (values < 1 - 1e-9))
    assert values.min() >= 0.0
    assert values.max() <= 1.0
    assert inside < 0.02
    assert abs(values.mean() - 0.25) < ERRORS * math.sqrt(0.25 * 0.75 / COUNT)


def test_no_two_uses_of_a_stream_share_a_lane() -> None:
    """A problem of three contexts and two actions, and 255 redraws of a decision."""
    single = [SERVE_LANE, TIE_LANE, BINARISE_LANE]
    thompson = [THOMPSON_LANE + pair for pair in range(3 * 2 + 3)]
    redraws = [REDRAW_LANE * redraw for redraw in range(1, REDRAWS)]
    lanes = [*single, *thompson, *redraws]
    assert len({float(uniform(np.uint64(5), lane)) for lane in lanes}) == len(lanes)


def test_every_lane_stands_in_the_table() -> None:
    """Kernels name the lane of each draw, and draws.py alone defines lanes."""
    folder = Path(draws.__file__).parent
    for path in folder.glob("*.py"):
        if path.name == "draws.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id == "uniform":
                    assert isinstance(node.args[1], ast.Name), ast.unparse(node)
                    assert node.args[1].id in draws.__all__
            elif isinstance(node, ast.Assign):
                names = [name for target in node.targets for name in ast.walk(target)]
                assert not any(isinstance(n, ast.Name) and n.id.endswith("_LANE") for n in names)
