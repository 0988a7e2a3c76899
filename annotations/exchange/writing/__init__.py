"""From rows to files of every format, a piece at a time, and to folders that appear whole."""
