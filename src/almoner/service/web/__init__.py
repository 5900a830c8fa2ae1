"""The page: HTML made on the server, and the scripts and styles it uses."""
