"""UMWP on the database: read questions and workers' answers, ask models, store results.

`questions` reads problems and people's answers. `running` is a run from its options to its rows.
"""
