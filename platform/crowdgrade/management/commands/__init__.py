"""Commands of `manage.py` for the site: run it, run the demo, manage API tokens."""
