"""The HTTP service: campaigns for visitors that arrive in another language or another process."""
