"""Pages of a run's results.

A page is a function from a run to what its template shows, made a view by `page.results_page`:
what a user may not see is not found, and a run that has no results (yet) gets a page that says so,
whatever was asked for.
"""
