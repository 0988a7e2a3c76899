"""Code that an exported scorer holds; `scorer.writing` copies it with what it imports."""
