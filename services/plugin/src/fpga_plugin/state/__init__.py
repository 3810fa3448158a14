"""The state folder: one process at a time, files that survive, and what is damaged set aside.

Used by everything that keeps state. It knows no content.
"""
