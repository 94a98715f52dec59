"""extensions (L1): what a project adds of its own: hooks, kinds of subagents. May import core alone.

What acts here runs only in a folder that the person trusts.
"""
