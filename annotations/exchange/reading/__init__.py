"""From the bytes of a file to records, in five stages: see `annotations.exchange`."""
