"""Evidence studies, one per module; each names the experiment that it repeats."""
