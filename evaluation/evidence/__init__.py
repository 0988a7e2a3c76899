"""Whole studies, file in and files out, without a database."""
