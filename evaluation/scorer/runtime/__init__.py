"""Code that an exported scorer holds; `evaluation.scorer.code` copies it with what it imports."""
