"""The consensus of a run as a scorer of language models' answers, for other evaluation tools."""
