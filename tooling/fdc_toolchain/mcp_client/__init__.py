"""Tools of MCP servers in plans: what a server offers is locked (`locking`), and called in a process of its own (`calling`).

The lock is a catalogue, so the linter knows these tools as it knows all others, offline. The core imports nothing of this room.
"""
