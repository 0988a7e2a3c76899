"""Commands of `manage.py` for the site."""
