"""Approving, rejecting and rewarding people's work, and inviting them again."""
