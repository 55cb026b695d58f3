"""LIBSVM files, from the folder RCMD_DATA or downloaded."""

from benchopt import BaseDataset

from rcmd.lab.bench.workloads import load


class Dataset(BaseDataset):
    """A file with two labels."""

    name = "libsvm"
    parameters = {"file": ["a9a", "w8a", "mushrooms"]}

    def get_data(self):
        return load(self.file, None)._asdict()
