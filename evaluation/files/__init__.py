"""Files in, tables out: `manage.py evaluate aqer`, without a database."""
