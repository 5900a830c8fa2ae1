"""Quality on rows: shares of the hindsight optimum on real data and on synthetic uplifts."""
