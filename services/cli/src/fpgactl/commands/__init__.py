"""One module a command: parse, call the manager, print."""
