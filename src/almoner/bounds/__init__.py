"""Regret bounds of the paper's theorems as numbers, with every constant."""

from __future__ import annotations

from almoner.bounds.epsilon_first import epsilon_first_regret, exploration_length
from almoner.bounds.equal_costs import (
    alp_regret,
    truncation_round,
    ucb_alp_log_constants,
    ucb_alp_regret,
    ucb_pb_regret,
)
from almoner.bounds.lemmas import (
    action_regret,
    execution_tail,
    pulls_needed,
    ranking_error_probability,
    ranking_errors,
    remaining_budget,
    remaining_budget_tail,
)
from almoner.bounds.unequal_costs import general_alp_regret, general_budget_tail

__all__ = [
    "action_regret",
    "alp_regret",
    "epsilon_first_regret",
    "execution_tail",
    "exploration_length",
    "general_alp_regret",
    "general_budget_tail",
    "pulls_needed",
    "ranking_error_probability",
    "ranking_errors",
    "remaining_budget",
    "remaining_budget_tail",
    "truncation_round",
    "ucb_alp_log_constants",
    "ucb_alp_regret",
    "ucb_pb_regret",
]
