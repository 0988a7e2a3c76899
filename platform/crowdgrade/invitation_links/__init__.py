"""Invitation links, made by owners of question sets and by operators, each for one person."""
