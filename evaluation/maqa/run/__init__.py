"""MAQA without database: extract answers from replies, judge them, and compute scores.

1. `replies` has the prompts, and reads the list of answers in a reply.
2. `confidence` reads the stated confidence, and finds the first token of each answer.
3. `judging` compares the answers with the right ones; `meaning` clusters the replies.
4. `study` builds the rows of `tables` from all replies, by system and group.
"""
