"""Fault injection: processes that are killed, disks that fail, and clocks that jump."""
