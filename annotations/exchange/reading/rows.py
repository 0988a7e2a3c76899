"""What every format hands on, whatever it was read from."""

Row = tuple[int, tuple[str, ...], tuple[str, ...]]
"""Line where the row begins, the wanted cells in the order asked for, the cells kept aside."""
