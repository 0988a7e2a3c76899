"""Detection of alarms in a graded crowd, without the database."""
