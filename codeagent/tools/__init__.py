"""tools (L1): let the model act.

A tool is one file in `builtin/` that exports `TOOL`. `Toolbox` validates, asks for permission, runs and bounds; it
never raises. `FileLedger` knows what was read, `JobTable` holds the child processes. May import core only.
"""
