"""``rcmd bench peers``: time to a certified gap, beside other people's packages."""
