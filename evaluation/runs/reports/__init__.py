"""Results of runs as plain records, and the lists of runs that several features show.

Each report takes a run that was fetched through `Run.objects.visible_to(user)`; rows of that run
need no further check. The number of queries does not depend on the number of rows, lists come in
pages (`annotations.web.paging`), and long texts are cut in the database.
"""
