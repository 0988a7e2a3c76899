"""The same questions in other words, over the database.

`loading` reads a version's questions, wordings and people's answers, `planning` counts what will
be asked before anything is, `running` tells how a run goes, `found` reads back what it kept.
"""
