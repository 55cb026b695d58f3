"""Methods side by side on one problem: ``rcmd compare``."""
