"""The JSON interface: what comes in, what is done, what goes out, and the document of it."""
