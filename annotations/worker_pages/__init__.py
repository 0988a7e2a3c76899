"""Pages on which workers answer: usable without JavaScript, on phones and with screen readers.

`consent` asks for consent, `visit` finds the submission of an address, and the other modules show
one step each. The rules are in `annotations.answering`.
"""
