"""State of a campaign: folded from its log, and stored in snapshots."""
