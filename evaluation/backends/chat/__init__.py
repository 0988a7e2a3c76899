"""Language models that are asked in chats: a small contract, and an offline citizen of it."""
