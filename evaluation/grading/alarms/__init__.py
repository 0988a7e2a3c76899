"""Alarms: signs that the grades of a run cannot be trusted."""
