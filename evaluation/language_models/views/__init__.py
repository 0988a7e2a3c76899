"""Pages of language models and prompts."""
