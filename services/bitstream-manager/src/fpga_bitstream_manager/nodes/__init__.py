"""What nodes report, and what is shown of it."""
