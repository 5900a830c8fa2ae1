"""Figures: the only module that imports matplotlib; it reads rows and nothing else."""
