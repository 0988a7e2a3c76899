"""ELOQUENT robustness on plain records: prompts that mean the same, replies, judgements, numbers.

`replies` finds the prompt of each reply and holds conversations, `judging` puts sets of replies to
a judge, `evaluation` makes `findings` of both, with the rows of `metrics`.
"""
