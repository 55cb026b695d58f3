"""``rcmd reproduce``: the experiment of the paper's Section 4.

``published`` has its settings and numbers, ``cells`` runs it and keeps each run in a file of its
own, ``table3`` puts our numbers beside the published ones.
"""
