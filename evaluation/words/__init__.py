"""Codes to sentences, one catalogue a door.

Deep inside there are codes with values (`Message`); `terminal`, `site` and `api` have their words.
What all doors say alike stands in `warnings`, `alarms` and `reasons`.
"""
