"""Evaluate and ask on files, without a database: `manage.py evaluate` and `manage.py ask`."""
