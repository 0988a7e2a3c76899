"""Descriptive statistics: correlation, agreement, ROC, shares, samples."""
