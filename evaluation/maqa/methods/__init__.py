"""Scores of answer sets, measures of confidence, and how well confidence predicts accuracy."""
