"""Background work on runs: the database holds the state, Celery only sends messages.

A message says "there may be work". Whoever hears it claims the oldest run that is free (`leases`),
keeps the claim alive while it works on it for a few minutes (`work`), and rings again (`doorbell`)
if there is more. A claim is a lease: if its holder dies, it runs out and somebody else goes on from
the last checkpoint. `liveness` knows whether anybody is listening at all.
"""
