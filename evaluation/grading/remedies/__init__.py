"""Remedies: exclude workers, collapse copies to one voter, use experts' grades or camps."""
