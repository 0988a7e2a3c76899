"""What helps where AQER alone would be wrong: each a switch, each off in the published method."""
