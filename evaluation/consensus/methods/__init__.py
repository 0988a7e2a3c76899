"""AQER: grades for workers, exemplary answers, scores for models (Yahav et al. 2025)."""
