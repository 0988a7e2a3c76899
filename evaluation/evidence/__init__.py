"""Evidence studies: validate methods on data with known truth, without a database.

A study (`studies`, by name in `registry`) reads public data (`data_sets`) or simulates it, makes
texts ready to be scored (`corpus`), lets AQER, its variants and what it is compared with
(`baselines`) score crowds dealt from them, and sets their agreement with the truth side by side
(`methods_table`, drawn by `methods_chart`; `heldout` chooses on one half of the questions and
reports on the other). Where the people are known and their answers judged, `labelled_crowd`
correlates scores with true values and `answer_scores` looks at single answers. `tables` writes what
comes out; `request` is what a study is asked.
``manage.py reproduce`` is the door. Benchmarks of time and memory are in `tests/benchmarks`.
"""
