"""Replies to prompts of the same meaning, over the database.

`wordings` reads a version's questions with their variants as items, `comparing` tells how a run
goes, `tables` keeps what it found. Models are asked by `evaluation.steps.asking.in_turns`.
"""
