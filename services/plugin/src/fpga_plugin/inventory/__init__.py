"""What cards the node has now: read all the time, shown as one snapshot."""
