"""Times: durations, the closing time of a campaign, and deadlines of open decisions."""
