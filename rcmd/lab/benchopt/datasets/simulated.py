"""Labels by a logistic model with a sparse truth."""

from benchopt import BaseDataset

from rcmd.datasets import make_classification


class Dataset(BaseDataset):
    """Sparse rows, or dense ones."""

    name = "simulated"
    parameters = {"n, p": [(2000, 500)], "density": [0.1, 1.0], "seed": [0]}

    def get_data(self):
        X, y = make_classification(self.n, self.p, density=self.density, rng=self.seed)
        return {"X": X, "y": y}
