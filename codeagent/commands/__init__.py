"""commands (L3): what begins with a slash. One file, one command, found by itself.

May import agent and below; speaks to the person through the `UI` port alone.
"""
