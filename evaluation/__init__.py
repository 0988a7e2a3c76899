"""Evaluation app: grades, scores and studies of workers' and language models' answers.

A feature that has a folder (`maqa`) holds all of its files; platform/docs/kinds.md names them. Two
sentences place every other file. It knows arrays: `methods`. It tells a whole computation on plain
records: `flow`. It moves rows of the database to arrays and back: `steps`; rows of files: `files`.
It only opens a door: `management`, `site`, `api`, `background`.
"""
