"""What the machine computed, and its judgement of what the machine wrote.

Two sentences place every file. It knows arrays: `methods`. It tells a whole computation on plain
records: `flow`. It moves rows of the database to arrays and back: `steps`; rows of files: `files`.
It only opens a door: `management`, `site`, `api`, `background`.
"""
