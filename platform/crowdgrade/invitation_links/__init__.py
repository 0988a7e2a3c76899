"""Invitation links: made by owners of question sets and by operators, used by one person once."""
