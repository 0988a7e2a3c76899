"""Pages: `workers` one by one, `accepting` all who are left, `exclusion` of the excluded."""
