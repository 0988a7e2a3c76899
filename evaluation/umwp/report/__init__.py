"""Results of a run of UMWP for people: models and replies (`results`), people (`people`)."""
