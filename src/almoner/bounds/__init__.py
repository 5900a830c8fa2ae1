"""Regret bounds of the paper's theorems as numbers, with every constant."""

from __future__ import annotations

from almoner.bounds.epsilon_first import (
    confidence_test_error,
    confidence_test_tries,
    epsilon_first_regret,
    exploration_length,
    slope_order_error,
    wrong_order_probability,
)
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
from almoner.bounds.truncated_contexts import (
    budget_difference,
    coupling_probability,
    ealp2_regret,
    frozen_budget_drift,
    frozen_budget_tail,
    frozen_shares_error,
)
from almoner.bounds.unequal_costs import general_alp_regret, general_budget_tail

__all__ = [
    "action_regret",
    "alp_regret",
    "budget_difference",
    "confidence_test_error",
    "confidence_test_tries",
    "coupling_probability",
    "ealp2_regret",
    "epsilon_first_regret",
    "execution_tail",
    "exploration_length",
    "frozen_budget_drift",
    "frozen_budget_tail",
    "frozen_shares_error",
    "general_alp_regret",
    "general_budget_tail",
    "pulls_needed",
    "ranking_error_probability",
    "ranking_errors",
    "remaining_budget",
    "remaining_budget_tail",
    "slope_order_error",
    "truncation_round",
    "ucb_alp_log_constants",
    "ucb_alp_regret",
    "ucb_pb_regret",
    "wrong_order_probability",
]
