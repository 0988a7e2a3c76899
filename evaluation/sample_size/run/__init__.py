"""On plain records: `trial` tries a crowd in parts, `plan` plans further answers."""
