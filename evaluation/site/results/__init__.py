"""The pages of a run's results: reports and charts, placed.

Every view begins with `visible_run`: what a user may not see is not found. A run that has no
results (yet) gets a page that says so, whatever was asked for.
"""
