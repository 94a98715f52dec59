"""The rungs of the compaction ladder, cheapest first: one file, one class with one method, `propose`."""
