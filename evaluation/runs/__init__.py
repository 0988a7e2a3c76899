"""Runs of every type: their life cycle, inputs and outputs, pages and REST views."""
