"""What people wrote: questions, passages, workers and their answers, and how they come in."""
