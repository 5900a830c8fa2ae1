"""Assignment of arrivals: hold-out, exploration and limits for persons."""
