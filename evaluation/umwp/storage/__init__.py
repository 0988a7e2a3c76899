"""UMWP on question sets: read questions and people's answers, ask models, store the results.

`questions` reads problems and people's answers. `running` is a run from its options to its rows.
"""
