"""From a graded crowd to its alarms, on plain records."""
