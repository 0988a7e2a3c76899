"""What more answers would buy, and what they cost: told once, for files and for runs."""
