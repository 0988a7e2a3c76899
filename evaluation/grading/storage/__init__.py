"""A grading in the database: rows to columns, and results to rows."""
