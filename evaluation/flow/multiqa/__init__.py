"""MultiQ&A told on plain records: items and replies in, numbers by system and group out.

`items` and `replies` are what is judged; `layout` puts the replies of a system into rows of items
and columns of wordings; `judging` says which are right and which say the same (`meaning` for
matchers that go by it); `evaluation` makes the numbers of every group, with chance beside them,
and compares systems. `evaluation.files.multiqa` reads and writes files around it,
`evaluation.steps.multiqa` the database.
"""
