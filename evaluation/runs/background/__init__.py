"""Work on runs in background processes: the database holds the state, Celery only sends messages.

A message means "there may be work". The process that receives it claims the oldest free run
(`leases`), renews the claim while it works on the run for a few minutes (`work`), and sends another
message (`leases`) if there is more. A claim is a lease: if its process dies, the lease expires and
another process continues from the last checkpoint. A turn with much to embed stores tasks instead;
each is claimed in the same way, by any process (`run_tasks`). `progress` reports whether any
background process is running.
"""
