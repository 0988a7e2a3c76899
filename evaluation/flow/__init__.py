"""Grading told once, on plain records: no ORM, no files; `steps` and `files` adapt to it."""
