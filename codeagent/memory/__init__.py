"""memory (L1): remember. `manager.MemoryManager` is the facade the agent knows; the rest does the work.

Facts: `entry` (what one is), `backends/` (where they are kept), `long_term` (the rules), `retriever` (which of them
matter now), `intent` and `secrets` (what may be kept). Rules of the team: `project`. The context: `compactor` with its
`rungs/`, `meter`.
"""
