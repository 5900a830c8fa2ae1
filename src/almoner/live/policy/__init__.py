"""Policy of a live campaign, run by the simulator's own kernels."""
