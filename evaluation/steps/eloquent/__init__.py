"""Replies to prompts of the same meaning, over the database.

`wordings` reads a version's questions with their variants as items, `conversations` asks models
and keeps what they reply, `comparing` tells how a run goes.
"""
