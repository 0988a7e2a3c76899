"""Store a grading in the database: read its inputs from rows, write its results to rows."""
