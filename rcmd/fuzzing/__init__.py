"""Random problems solved here and by CVXPY, and what does not agree."""
