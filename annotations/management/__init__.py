"""Commands of `manage.py` for question sets and answers."""
