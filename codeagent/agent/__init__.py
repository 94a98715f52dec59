"""agent (L2): the loop and what it needs around it; `Session` is what commands and ui hold.

May import core and the L1 rooms; hears of the person only through events and the `UI` port.
"""
