"""Pages of triage: `workers` one at a time, `batches` of acceptances, `exclusion` of workers."""
