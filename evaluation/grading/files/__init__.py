"""Grade files of answers without the database, and write the result tables."""
