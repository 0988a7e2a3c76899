"""Commands that join the rooms into a running site."""
