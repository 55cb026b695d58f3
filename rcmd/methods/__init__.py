"""Methods in their own words, for comparison with the dual engine."""
