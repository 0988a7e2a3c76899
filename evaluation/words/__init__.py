"""Sentences by message code, a catalogue for each interface.

Deep inside there are codes with values (`Message`); `terminal`, `site` and `api` have their words.
What all doors say alike stands in `warnings`, `alarms` and `reasons`.
"""
