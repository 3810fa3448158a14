"""Loads: what may be asked, what follows what, and where it is written.

``planning`` decides with values, ``repository`` writes with conditional updates, ``service`` is
what the API calls, ``execution`` is what a worker does. Nothing here knows HTTP, Celery or
Kubernetes.
"""
