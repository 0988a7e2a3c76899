"""MultiQ&A over files: read items and replies, evaluate them, and write tables."""
