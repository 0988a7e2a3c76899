"""Remedies: exclude workers, collapse copies to one voter, use experts' anchors, grade by camps."""
