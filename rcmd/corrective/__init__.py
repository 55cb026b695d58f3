"""The phase that turns a found face into a certified high accuracy."""
