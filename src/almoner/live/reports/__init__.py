"""Reports: the history of a campaign, the report on it so far and the final report."""
