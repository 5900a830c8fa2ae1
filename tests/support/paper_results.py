"""Numbered results of the paper, which citations in the package may name.

LaTeX counts theorems, lemmas and algorithms separately, through the appendix.
"""

from __future__ import annotations

RESULTS = {
    "Theorem 1": "regret of ALP",
    "Theorem 2": "regret of UCB-ALP",
    "Theorem 3": "regret of UCB-PB, two contexts",
    "Theorem 4": "regret of EALP2",
    "Theorem 5": "regret of ε-First ALP",
    "Lemma 1": "the upper bound T v(ρ)",
    "Lemma 2": "the budget left under ALP is hypergeometric",
    "Lemma 3": "probability of ranking two pairs wrongly",
    "Lemma 4": "regret from wrong actions",
    "Lemma 5": "executions of a pair among its chances",
    "Lemma 6": "rounds with contexts ranked wrongly",
    "Lemma 7": "expected ratio under frozen context shares",
    "Lemma 8": "concentration of the ratio under frozen context shares",
    "Lemma 9": "bounded averaged differences",
    "Lemma 10": "one term of those differences",
    "Lemma 11": "solution of the LP within one context",
    "Lemma 12": "concentration of the budget left at unequal costs",
    "Lemma 13": "length of exploration that ranks all slopes rightly",
    "Algorithm 1": "UCB-ALP",
    "Algorithm 2": "UCB-PB",
    "Algorithm 3": "EALP2",
    "Algorithm 4": "candidate actions of a context",
    "Algorithm 5": "ε-First ALP",
    "Algorithm 6": "confidence level test",
}

CITED = {
    "almoner.bounds.alp_regret": "Theorem 1",
    "almoner.bounds.ucb_alp_regret": "Theorem 2",
    "almoner.bounds.ucb_pb_regret": "Theorem 3",
    "almoner.bounds.truncation_round": "Theorem 4",
    "almoner.bounds.epsilon_first_regret": "Theorem 5",
    "almoner.bounds.remaining_budget": "Lemma 2",
    "almoner.bounds.remaining_budget_tail": "Lemma 2",
    "almoner.bounds.pulls_needed": "Lemma 3",
    "almoner.bounds.ranking_error_probability": "Lemma 3",
    "almoner.bounds.action_regret": "Lemma 4",
    "almoner.bounds.execution_tail": "Lemma 5",
    "almoner.bounds.ranking_errors": "Lemma 6",
    "almoner.bounds.general_budget_tail": "Lemma 12",
    "almoner.bounds.exploration_length": "Lemma 13",
    "almoner.lp.candidates": "Algorithm 4",
    "almoner.policy.recipes.alp": "Theorem 1",
    "almoner.policy.recipes.ucb_alp": "Algorithm 1",
    "almoner.policy.recipes.ucb_pb": "Algorithm 2",
    "almoner.policy.recipes.ealp2": "Algorithm 3",
    "almoner.policy.recipes.epsilon_first_alp": "Algorithm 5",
}
"""Result that each function computes, bounds or implements."""
