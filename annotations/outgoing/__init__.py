"""Outgoing requests: to vetted addresses only, with the wait that a server asks for.

Language models (`evaluation.core.backends`) and panels (`annotations.panels`) are asked through it.
It knows neither Django nor the database.
"""
