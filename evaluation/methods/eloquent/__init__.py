"""ELOQUENT robustness: whether prompts that mean the same get replies that mean the same.

`judged` turns judges' scores into one for each set of replies (an item, a system, a language) and
these into sums, `similarity` compares the vectors of replies, `judges` compares judges.
"""
