"""REST views of language models and prompts."""
