"""Evaluate and ask with files in place of a database: `manage.py evaluate`, `manage.py ask`."""
