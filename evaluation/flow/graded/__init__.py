"""Which method to trust in a domain, by answers of it that somebody graded."""
