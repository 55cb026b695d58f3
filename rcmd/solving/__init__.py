"""``rcmd solve``: problems out of files and words, and what is said about their solutions."""
