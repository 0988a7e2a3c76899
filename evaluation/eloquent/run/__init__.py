"""ELOQUENT without database: match and judge replies, and compute scores and metrics.

`replies` finds the prompt of each reply and holds conversations, `judging` puts sets of replies to
a judge, `evaluation` makes `findings` of both, with the rows of `metrics`.
"""
