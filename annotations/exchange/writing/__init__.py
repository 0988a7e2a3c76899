"""Write rows to files of every format, a piece at a time, and folders all at once."""
