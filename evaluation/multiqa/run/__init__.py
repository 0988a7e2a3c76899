"""MultiQ&A without database: judge replies to items, and compute metrics by system and group.

`judging` decides which replies are right and which give the same answer; `meaning` does this for
the matcher cosine. `evaluation` computes the metrics of every group with chance levels, compares
systems, and scores replies by the crowd. `study` rewords questions and asks every wording. `rows`
are the rows that a run stores.
"""
