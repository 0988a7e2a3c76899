"""Commands of `manage.py` for evaluations."""
