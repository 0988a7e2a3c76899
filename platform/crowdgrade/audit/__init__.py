"""Audit log for operators: downloads of files, decisions of users, and sign-ins."""
