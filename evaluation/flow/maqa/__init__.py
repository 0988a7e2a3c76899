"""MAQA on plain records: from replies to answers, from answers to numbers.

1. `reading` finds the list of answers in a reply, `confidence` what it says of its own certainty.
2. `spelling` brings answers to a form in which equal ones are equal.
3. `judging` compares the answers of a reply with the right ones, and reads distributions.
4. `study` makes rows of metrics out of all replies, system by system and group by group.
"""
