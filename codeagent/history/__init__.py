"""history (L1): what was said, in memory and on disk.

`History` is the one mutable thing of the program: the messages of the next request with the journal behind them.
`replay` folds the journal's lines back into the same state. Imports core alone.
"""
