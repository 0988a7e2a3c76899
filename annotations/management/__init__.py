"""Commands of `manage.py` for question sets and answers, and their shared base classes."""
