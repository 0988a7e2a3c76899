"""Deciding about people."""
