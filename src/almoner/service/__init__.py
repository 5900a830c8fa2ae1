"""The HTTP service: campaigns for programs in other languages and processes."""
