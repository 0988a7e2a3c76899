"""On plain records: `gathering` joins views, `findings` compares them, `conclusions` reads them."""
