"""Pages of a run's results.

A page is a function from a run to the context of its template. `make_results_page` makes it a
view: 404 for a run that the user may not see, and a page that says so for a run without results
(yet).
"""
