"""UMWP without database: classify replies and compute the tables of a study.

1. `classification` compares the windows of a reply with templates, searches for an expression, and
   tunes the threshold of an encoder on replies that were labelled by hand (`labelled.jsonl`).
2. `study` computes the metrics and the rows of replies and of pairs of problems. `tables` has the
   ablation, the comparison of systems and F1 by model size.
3. `people` does the same for people's answers, and compares the classifier with people's labels.
4. `mining` extracts new templates from labelled replies.
"""
