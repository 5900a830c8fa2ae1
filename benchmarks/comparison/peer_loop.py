"""One loop of a peer: decide, then learn, ten contexts and five actions; prints JSON.

Runs in the environment of the peers, without almoner: ``python peer_loop.py river``. Only budgetCB
carries a budget, for half of the arrivals; the others serve everybody.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from itertools import count
from typing import Any

CONTEXTS, ACTIONS, ROUNDS, PASSES = 10, 5, 2000, 3
Round = Callable[[int, Callable[[int], float]], None]


def river() -> Iterator[tuple[str, Round]]:
    """UCB, a policy per context."""
    from river import bandit

    policies = [bandit.UCB(delta=1.0, seed=1) for _ in range(CONTEXTS)]
    arms = list(range(ACTIONS))

    def play(context: int, reward_of: Callable[[int], float]) -> None:
        action = policies[context].pull(arms)
        policies[context].update(action, reward_of(action))

    yield "UCB per context", play


def mabwiser() -> Iterator[tuple[str, Round]]:
    """UCB1 per context, and LinUCB on one-hot contexts."""
    from mabwiser.mab import MAB, LearningPolicy

    arms = list(range(ACTIONS))
    policies = [MAB(arms, LearningPolicy.UCB1(alpha=0.5)) for _ in range(CONTEXTS)]
    for policy in policies:
        policy.fit(arms, [0.5] * ACTIONS)

    def play(context: int, reward_of: Callable[[int], float]) -> None:
        action = policies[context].predict()
        policies[context].partial_fit([action], [reward_of(action)])

    yield "UCB1 per context", play
    linear = MAB(arms, LearningPolicy.LinUCB(alpha=0.5))
    hot = [[float(i == j) for i in range(CONTEXTS)] for j in range(CONTEXTS)]
    linear.fit(arms, [0.5] * ACTIONS, [hot[0]] * ACTIONS)

    def play_linear(context: int, reward_of: Callable[[int], float]) -> None:
        action = linear.predict([hot[context]])
        linear.partial_fit([action], [reward_of(action)], [hot[context]])

    yield "LinUCB, one-hot contexts", play_linear


def vowpalwabbit() -> Iterator[tuple[str, Round]]:
    """Contextual bandit with ε-greedy exploration."""
    import vowpalwabbit as vw

    learner = vw.Workspace(f"--cb_explore {ACTIONS} --epsilon 0.05 --quiet")
    rng = random.Random(1)  # noqa: S311

    def play(context: int, reward_of: Callable[[int], float]) -> None:
        spread = learner.predict(f"| c{context}")
        action = rng.choices(range(ACTIONS), spread)[0]
        cost = -reward_of(action)
        learner.learn(f"{action + 1}:{cost}:{spread[action]} | c{context}")

    yield "--cb_explore, ε = 0.05", play


def obp() -> Iterator[tuple[str, Round]]:
    """LinUCB on one-hot contexts, and Bernoulli Thompson sampling per context."""
    import numpy as np
    from obp.policy import BernoulliTS, LinUCB

    policies = [BernoulliTS(n_actions=ACTIONS, random_state=1) for _ in range(CONTEXTS)]

    def play(context: int, reward_of: Callable[[int], float]) -> None:
        action = int(policies[context].select_action()[0])
        policies[context].update_params(action=action, reward=reward_of(action))

    yield "BernoulliTS per context", play
    linear = LinUCB(dim=CONTEXTS, n_actions=ACTIONS, epsilon=0.5, random_state=1)
    hot = np.eye(CONTEXTS)[:, None, :]

    def play_linear(context: int, reward_of: Callable[[int], float]) -> None:
        action = int(linear.select_action(hot[context])[0])
        linear.update_params(action=action, reward=reward_of(action), context=hot[context])

    yield "LinUCB, one-hot contexts", play_linear


def contextualbandits() -> Iterator[tuple[str, Round]]:
    """LinUCB on one-hot contexts."""
    import numpy as np
    from contextualbandits.online import LinUCB

    learner: Any = LinUCB(nchoices=ACTIONS, alpha=0.5, random_state=1)
    hot = np.eye(CONTEXTS)
    learner.fit(hot[:ACTIONS], np.arange(ACTIONS), np.full(ACTIONS, 0.5))

    def play(context: int, reward_of: Callable[[int], float]) -> None:
        row = hot[context : context + 1]
        action = int(learner.predict(row)[0])
        learner.partial_fit(row, np.array([action]), np.array([reward_of(action)]))

    yield "LinUCB, one-hot contexts", play


def budgetcb() -> Iterator[tuple[str, Round]]:
    """UCB-ALP with a linear program each round; its LinUCB fails with numpy 2.4."""
    import numpy as np
    from budgetcb.constrained_cb import UcbAlp

    class Known:
        """The clusters that UcbAlp asks for: the context itself."""

        def predict(self, row: Any) -> list[int]:
            return [int(row.argmax())]

    hot, skip, rounds = np.eye(CONTEXTS)[:, :, None], -1, PASSES * ROUNDS
    shares = np.full(CONTEXTS, 1 / CONTEXTS)
    policy = UcbAlp(ACTIONS, rounds, rounds // 2, shares, Known(), skip)
    played = count()

    def play(context: int, reward_of: Callable[[int], float]) -> None:
        t = next(played)
        action = policy.play(t, hot[context])
        if action != skip:
            policy.update(action, reward_of(action), hot[context], t)

    yield "UCB-ALP", play


PEERS: dict[str, tuple[str, Callable[[], Iterator[tuple[str, Round]]]]] = {
    "river": ("river", river),
    "mabwiser": ("mabwiser", mabwiser),
    "vowpalwabbit": ("vowpalwabbit", vowpalwabbit),
    "obp": ("obp", obp),
    "contextualbandits": ("contextualbandits", contextualbandits),
    "budgetCB": ("budget-constrained-CB", budgetcb),
}
"""For each program the name of its distribution, and the loops with its policies."""


def _reward(noise: float, action: int) -> float:
    return float(noise < 0.1 * (action + 1))


def measure(play: Round) -> float:
    """Return microseconds of a round: the best of some passes, the first of which warms up."""
    best = float("inf")
    for _ in range(PASSES):
        rng = random.Random(7)  # noqa: S311
        stream = [(rng.randrange(CONTEXTS), rng.random()) for _ in range(ROUNDS)]
        start = time.process_time()
        for context, noise in stream:
            play(context, partial(_reward, noise))
        best = min(best, time.process_time() - start)
    return 1e6 * best / ROUNDS


def main() -> None:
    distribution, loops = PEERS[sys.argv[1]]
    rows = [{"policy": policy, "microseconds": measure(play)} for policy, play in loops()]
    print(json.dumps({"version": version(distribution), "rows": rows}))


if __name__ == "__main__":
    main()
