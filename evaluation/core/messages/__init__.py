"""Build the sentences of messages from their codes, with one catalogue per interface.

Computations return codes with values (`Message`); the terminal, the site and the API have their own
sentences for them. Sentences that all interfaces share are in `run_sentences` and `reasons`, those
of alarms in `evaluation.grading.alarms.messages`.
"""
