"""Detection of alarms in a graded crowd, on plain records."""
