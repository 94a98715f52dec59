"""text (L0): cutting text into words. Pure text; the cache folder it may use is handed in."""
