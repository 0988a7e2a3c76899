"""MultiQ&A (Cho and Watson 2025): robustness of a model when questions are reworded."""
