"""safety.checkpoints (L1): what tools change, so that it can be taken back.

`SavedWork` stands around each changing tool call: it keeps the touched files in a store under the home, and writes what
came of the call as a `checkpoint` record. `Tree` finds what a command changed, by looking before and after; `restore`
puts states back. The person's git index, stashes and refs are never touched: what lies in `.git` is not looked at.
"""
