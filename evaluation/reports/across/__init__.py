"""Workers and models across question sets: lists, histories, trends.

Only raw leave-one-out scores, percentiles and model scores stand beside each other here, never
grades: a grade is stretched from 0 to 1 within its own run.
"""
