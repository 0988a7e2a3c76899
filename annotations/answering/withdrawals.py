"""Signal that answers were withdrawn; a separate module, because its receivers load early."""

from django.dispatch import Signal

withdrawing = Signal()
"""Sent before what a worker wrote is deleted, with the `submission`, in the same transaction."""
