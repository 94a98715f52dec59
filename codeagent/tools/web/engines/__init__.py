"""Search providers; each file exports ENGINE."""
