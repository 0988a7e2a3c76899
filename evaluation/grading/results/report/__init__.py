"""Reports of a grading as plain records, read from the database."""
