"""SQLite as Django has it, in a folder that is made when the database is first opened."""
