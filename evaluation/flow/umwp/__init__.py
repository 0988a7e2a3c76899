"""UMWP on plain records: from replies to whether each takes its problem for unanswerable.

1. `pieces` takes replies apart: sentences, and windows of six words.
2. `likeness` finds for each window how like a template (`templates.txt`) it is.
3. `expressions` looks for an answer that is no number but an expression with a variable.
4. `numbers` reads the answer of a reply that takes its problem for answerable.
5. `classifying` decides, and says by what; `study` makes rows of metrics of it.

`labelled.jsonl` are replies labelled by hand, which `tuning` finds the threshold by.
"""
