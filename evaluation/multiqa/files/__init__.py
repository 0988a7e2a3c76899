"""MultiQ&A on files: read items and replies, evaluate them, and write tables."""
