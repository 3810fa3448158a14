"""From the manager's documents to what a page shows: values in, rows out.

Called by views. Knows nothing of HTTP, Flask or templates.
"""
