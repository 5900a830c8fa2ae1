"""Monte-Carlo simulation of policies on problems, their regret, and exact values of both."""
