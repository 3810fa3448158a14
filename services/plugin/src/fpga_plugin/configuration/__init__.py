"""Reading and checking a configuration: strict, and every failure names its key."""
