"""placeholder"""
ADMINISTER = "administer"
DECIDE = "decide"
