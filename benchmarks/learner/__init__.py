"""Comparison of the default policy with the one before it, on problems drawn at random.

``make learner`` plays all problems and writes ``docs/learner/*.csv``, the figure
``docs/figures/caution.svg`` and the tables of ``docs/learner.md``.
"""
