"""Access control: API keys, sessions, rate limit."""
