"""Evidence studies: validate methods on data with known truth, without a database.

A study (`studies`, by name in `registry`) reads public data (`data_sets`) or simulates it, and
prepares texts for scoring (`corpus`). AQER, its variants and other methods (`baselines`) score
crowds drawn from them. `labelled_crowd` compares their agreement with the truth, also for
identified workers whose answers were judged. `method_comparison` chooses a method on one half of
the questions and reports on the other half, compares the scores of single answers, and draws the
charts. `tables` defines the arguments of a study and writes its results.
``manage.py reproduce`` is the command. Benchmarks of time and memory are in `tests/benchmarks`.
"""
