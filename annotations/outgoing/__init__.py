"""Requests that leave the house: to vetted addresses only, and how long to wait when asked to.

Language models (`evaluation.backends`) and panels (`annotations.panels`) are asked through it. It
knows neither Django nor the database.
"""
