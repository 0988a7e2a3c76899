"""Id of the run that a thread works on, for its log records; imports nothing of Django."""

from contextvars import ContextVar

run_id: ContextVar[str] = ContextVar("run_id", default="")
"""Public id of the run that this thread works on, "" outside of runs."""
