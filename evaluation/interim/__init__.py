"""Interim gradings while answers are collected."""
