"""Runs scripts on made-up data, in a sandbox."""
