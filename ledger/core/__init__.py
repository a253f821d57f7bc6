"""Rules of the ledger: roles, scopes, strict JSON. Plain Python."""
