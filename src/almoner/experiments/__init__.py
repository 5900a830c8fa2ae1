"""Experiments: settings as data, then rows, then figures."""
