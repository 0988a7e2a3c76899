"""The signal that answers are taken back; a module of its own, which its receivers load early."""

from django.dispatch import Signal

withdrawing = Signal()
"""Sent before what a worker wrote is deleted, with the `submission`, in the same transaction."""
