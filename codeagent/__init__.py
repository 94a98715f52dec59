"""codeagent: a coding agent for the terminal whose memory survives compaction.

Nothing happens at import. The public Python API is what stands in `codeagent.core` (values and protocols) and
`codeagent.app` (the composition root); import them where they are needed.
"""

__version__ = "0.1.0"
