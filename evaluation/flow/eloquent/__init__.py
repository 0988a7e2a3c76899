"""ELOQUENT robustness on plain records: prompts that mean the same, replies, judgements, numbers.

`matching` says which prompt a reply of a file belongs to, `judging` what a judge is asked and what
its reply says, `evaluating` makes the numbers of both, `found` holds them. Files and the database
are adapters of this flow.
"""
