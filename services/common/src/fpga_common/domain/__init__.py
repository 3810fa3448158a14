"""The words of the platform as pure values. Imports only the standard library."""
