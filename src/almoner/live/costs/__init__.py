"""Costs: the ledger of the budget, learned costs, and reserves that share a risk."""
