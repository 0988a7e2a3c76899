"""Commands of `manage.py`; each parses arguments and calls one function of another package."""
