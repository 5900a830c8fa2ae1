"""HTML pages: rendered on the server, with their scripts and styles."""
