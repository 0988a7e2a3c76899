"""Remedies: grading without some workers, with groups as one voter, by anchors or camps."""
