"""The engines that run Algorithm 2, and what is kept of their runs."""
