"""The experiments of the paper's Section 4 with our numbers beside its own: ``rcmd reproduce``."""
