"""Health: what is checked, and what follows from what the checks saw."""
