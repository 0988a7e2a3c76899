"""MAQA (Yang, Yoo and Lee 2024): uncertainty when a question has several right answers."""
