"""Compare workers and models across question sets.

Only raw leave-one-out scores, percentiles and model scores are compared here, never grades: a grade
is min-max scaled within its own run.
"""
