"""What is decided of people's work and paid for it: rows that are added and never changed.

`deciding` keeps who approved or rejected a submission, when and why; the newest row counts.
`files` takes decisions in from a file, whole or not at all.
"""
