"""MAQA over the database: a version's questions with their right answers, put to models.

`questions` says what is asked and what is right, `measuring` is the run from options to summary.
"""
