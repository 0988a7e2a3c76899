"""The computation of a grading on plain records."""
