"""Terms of a campaign: their types, parsing, comparison, and the names in them."""
