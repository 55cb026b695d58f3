"""``rcmd reproduce``: the experiment of the paper's Section 4.

``published`` has its settings and numbers, ``cells`` makes the runs and keeps each in a file of its
own, ``table3`` puts ours beside the published ones.
"""
