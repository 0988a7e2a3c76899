"""A grading in the database: read inputs from rows, write results to rows."""
