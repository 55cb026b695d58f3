"""What a step costs on several ranks: measured here, modelled, and foretold for a cluster."""
