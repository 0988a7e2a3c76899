"""Results of a UMWP run for readers: models and replies (`results`), humans (`people`)."""
