"""Methods of the remedies, for crowds in which AQER alone fails; each is off by default."""
