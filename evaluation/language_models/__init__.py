"""Language models: their registration, prompts, answers and notes."""
