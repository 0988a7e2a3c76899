"""Chat models (language models that reply) behind one contract, and an offline one for tests."""
