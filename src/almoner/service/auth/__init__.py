"""Who may come in, with what key, and how often."""
