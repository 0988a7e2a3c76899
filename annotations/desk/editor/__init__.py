"""Editor pages of a draft: its passages, questions, guidelines and consent text."""
