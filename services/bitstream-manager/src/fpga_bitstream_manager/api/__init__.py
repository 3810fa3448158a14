"""REST: parses requests, calls one service function, renders its answer. Knows Flask alone."""
