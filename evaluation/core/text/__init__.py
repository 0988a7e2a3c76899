"""Analyse texts: language, spelling, copies, phrases such as "I don't know"."""
