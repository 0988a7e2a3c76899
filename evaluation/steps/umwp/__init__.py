"""UMWP over a question set: its questions as problems, asked within the turns of a run.

`problems` reads the questions, `noticing` is the flow of the run, `tables` keeps what was found.
"""
