"""The offline code index (L1): code cut along its definitions, kept in SQLite, found by words, names and meaning."""
