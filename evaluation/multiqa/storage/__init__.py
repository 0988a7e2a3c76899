"""MultiQ&A on the database: load items, ask models, and store results.

`questions` loads a version's questions, wordings and workers' answers, checks a run's options, and
estimates its requests. `running` executes a run, stores its rows and loads them again.
"""
