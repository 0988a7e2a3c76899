"""Write rows to files of every format, in pieces, and folders as a whole or not at all."""
