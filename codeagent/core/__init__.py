"""core (L0): the values that flow through the house and the Protocols by which its rooms meet.

Standard library only, no I/O but the making of private folders.
Every other room may import this one; this one imports nothing of ours but itself.
"""
