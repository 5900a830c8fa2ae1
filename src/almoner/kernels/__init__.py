"""Everything compiled: arrays and integer codes only. Import it late: it brings numba with it."""
