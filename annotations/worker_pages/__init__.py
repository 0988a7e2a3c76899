"""The pages on which workers answer: plain, without script, for telephones and screen readers.

`entering` asks for consent, `visit` finds whose page an address is, and the rest shows one step of
the way each. What may be done is decided in `annotations.answering`.
"""
