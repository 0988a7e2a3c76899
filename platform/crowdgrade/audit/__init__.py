"""Audit log for operators: downloads of files, and decisions of users."""
