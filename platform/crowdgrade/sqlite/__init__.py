"""Django's SQLite back-end, with a private folder created when the database is first opened."""
