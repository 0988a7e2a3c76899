"""Signal that a worker submitted; a separate module, because its receivers load early."""

from django.dispatch import Signal

submission_stored = Signal()
"""Sent with the new `submission`, in the transaction that stores it."""
