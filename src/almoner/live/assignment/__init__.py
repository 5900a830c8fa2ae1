"""Assignment of arrivals: decisions, hold-out, exploration and limits for persons."""
