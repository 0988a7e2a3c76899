"""Chat models behind one contract, with an offline model for tests."""
