"""Signal that decisions were stored; a separate module, because its receivers load early."""

from django.dispatch import Signal

decisions_stored = Signal()
"""Sent with the new `decisions`, in the transaction that stores them."""
