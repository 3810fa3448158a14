"""Models of every JSON document that crosses a process boundary, validated with pydantic.

Requests forbid unknown fields; answers tolerate them, so that an older client reads a newer server.
"""
