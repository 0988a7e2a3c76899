"""Pages of triage: `workers` one at a time, `exclusion` of workers and batches of acceptances."""
