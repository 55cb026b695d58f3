"""Polytopes of combinatorial problems: assignments (Birkhoff) and paths (flows)."""

from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from numbers import Rational
from typing import Any, Self

import numpy as np

from rcmd.oracles.base import IN_FLOATS, Array, LinearMinOracle, Pairs, cp
from rcmd.rows.atoms import SparseAtom
from rcmd.rows.validation import as_array, positive, positive_counts, sp


@dataclass(frozen=True)
class Birkhoff(LinearMinOracle):
    """The ``order`` × ``order`` matrices ≥ 0 whose rows and columns sum to 1, read row by row.

    Atoms are permutation matrices, found as optimal assignments.

    Examples
    --------
    >>> Birkhoff(2).argmin(np.array([1.0, 0.0, 0.0, 5.0]))
    SparseAtom(indices=(1, 2), values=(1.0, 1.0))
    """

    order: int
    refuses_exact = IN_FLOATS
    formula = "indicator of β ≥ 0, rows and columns sum to 1, {order} × {order}"
    spec, cost, section = "birkhoff:ORDER", "O(order³)", "matrices"
    square, sized_by = True, "order"

    def __post_init__(self) -> None:
        rows = "the rows of the square matrix β"
        (order,) = positive_counts("order", self.order, "Birkhoff", rows)
        object.__setattr__(self, "order", order)

    def declared_size(self) -> int:
        return self.order**2

    def _assigned(self, c: Array) -> tuple[Array, Array]:
        """The costs as a matrix, and the column of each row in a cheapest assignment."""
        from scipy.optimize import linear_sum_assignment

        costs = np.asarray(c, dtype=float).reshape(self.order, self.order)
        return costs, linear_sum_assignment(costs)[1]

    def argmin(self, c: Array) -> SparseAtom:
        columns = self._assigned(c)[1]
        indices = np.arange(self.order) * self.order + columns
        return SparseAtom(tuple(indices.tolist()), (1.0,) * self.order)

    def minimum(self, c: Array) -> float:
        costs, columns = self._assigned(c)
        return float(costs[np.arange(self.order), columns].sum())

    def violation(self, beta: Array) -> Any:
        matrix = beta.reshape(self.order, self.order)
        sums = abs(np.concatenate([matrix.sum(axis=0), matrix.sum(axis=1)]) - 1)
        return np.max([-matrix.min(), sums.max(), 0.0])

    def fenchel_young(self, beta: Array, c: Array) -> float:
        """Σ_ij β_ij (c_ij − u_i − v_j) with prices u, v of the assignment problem."""
        costs, columns = self._assigned(c)
        assigned = costs[np.arange(self.order), columns]
        # v_j ≤ v_k + c_ij − c_ik where k is the column of row i: shortest paths, from 0 everywhere.
        steps = np.empty_like(costs)
        steps[columns] = costs - assigned[:, None]
        v = np.zeros(self.order)
        for _ in range(self.order):
            shorter = np.minimum(v, (v[:, None] + steps).min(axis=0))
            if np.array_equal(shorter, v):
                break
            v = shorter
        u = assigned - v[columns]
        reduced = np.maximum(costs - u[:, None] - v, 0)
        return float((np.maximum(beta, 0) * reduced.ravel()).sum())

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        matrix = cp.reshape(beta, (self.order, self.order), order="C")
        return 0, [beta >= 0, cp.sum(matrix, axis=0) == 1, cp.sum(matrix, axis=1) == 1]


@dataclass(frozen=True, eq=False)
class FlowPolytope(LinearMinOracle):
    """The flows β ≥ 0 of size ``flow`` from ``source`` to ``sink``, one variable for each edge.

    What enters a node other than these leaves it again. Atoms are shortest paths, found in
    one sweep over the edges; of equally short ways into a node, the first edge counts.

    Parameters
    ----------
    edges
        Pairs (tail, head) of nodes 0, 1, 2, …, from tail to head; no cycles.
    source, sink
        Two nodes with a path between them.
    flow
        What is sent; 1 by default.

    Examples
    --------
    >>> diamond = FlowPolytope([(0, 1), (1, 3), (0, 2), (2, 3)], source=0, sink=3)
    >>> diamond.argmin(np.array([1.0, 1.0, 0.0, 3.0]))
    SparseAtom(indices=(0, 1), values=(1, 1))
    """

    edges: Pairs
    source: int
    sink: int
    flow: Any = 1
    formula = "indicator of flows of size {flow} from node {source} to node {sink}"
    sized_by = "edges"
    spec, cost, section = "flow:EDGES:SOURCE:SINK[:FLOW]", "O(edges)", "files"

    @classmethod
    def example(cls, draw: Any) -> Self:
        """Paths of two edges beside each other, and one of one edge where p is odd."""
        middles = range(2, 2 + draw.p // 2)
        edges = [edge for middle in middles for edge in ((0, middle), (middle, 1))]
        return cls(edges + [(0, 1)] * (draw.p % 2), 0, 1, draw.magnitude())

    def __post_init__(self) -> None:
        edges = as_array("edges of FlowPolytope", self.edges)
        if edges.ndim != 2 or edges.shape[1] != 2 or not len(edges) or not _are_nodes(edges):
            raise ValueError(
                f"edges of FlowPolytope has shape {edges.shape} and dtype {edges.dtype}; expected "
                "at least one pair (tail, head) of whole numbers ≥ 0"
            )
        positive("flow", self.flow, "FlowPolytope")
        object.__setattr__(self, "edges", edges.astype(int))
        for name in ("source", "sink"):
            node = np.asarray(getattr(self, name))
            if node.ndim or not _are_nodes(node) or node > self.edges.max():
                raise ValueError(
                    f"{name} of FlowPolytope is {getattr(self, name)!r}; expected one of the nodes "
                    f"0 to {self.edges.max()}"
                )
            object.__setattr__(self, name, int(node))
        if not self._levels:
            raise ValueError(
                f"FlowPolytope has no path from source {self.source} to sink {self.sink}; expected "
                "two different nodes with a path between them"
            )

    @property
    def nodes(self) -> int:
        """The number of nodes: one more than the largest among the edges."""
        return int(self.edges.max()) + 1

    @cached_property
    def _useful(self) -> Array:
        """The edges that lie on a path from the source to the sink; no flow uses others."""
        tails, heads = self.edges.T
        forth, back = _reached(self.source, tails, heads), _reached(self.sink, heads, tails)
        return np.flatnonzero(forth[tails] & back[heads])

    @cached_property
    def _levels(self) -> list[tuple[Array, Array, Array]]:
        """Edges into the nodes of each level, sorted by head; where heads begin; the heads."""
        heads, useful = self.edges[:, 1], self._useful
        depth = _depths(self.edges)[heads[useful]]
        order = np.lexsort((useful, heads[useful], depth))
        plan = []
        for edges in np.split(useful[order], np.flatnonzero(np.diff(depth[order])) + 1):
            nodes, starts = np.unique(heads[edges], return_index=True)
            plan.append((edges, starts, nodes))
        return plan if len(useful) else []

    @cached_property
    def _into(self) -> dict[int, Array]:
        """The useful edges into each node."""
        return {
            int(node): group
            for edges, starts, nodes in self._levels
            for node, group in zip(nodes, np.split(edges, starts[1:]), strict=True)
        }

    def _distances(self, c: Array) -> Array:
        """The length of a shortest path to every node from the source; 0 where there is none."""
        tails = self.edges[:, 0]
        distances = np.zeros(self.nodes, dtype=c.dtype)
        for edges, starts, nodes in self._levels:
            distances[nodes] = np.minimum.reduceat(distances[tails[edges]] + c[edges], starts)
        return distances

    def argmin(self, c: Array) -> SparseAtom:
        distances, tails = self._distances(c), self.edges[:, 0]
        path: list[int] = []
        node = self.sink
        while node != self.source:
            into = self._into[node]
            lengths = distances[tails[into]] + c[into]
            path.append(int(into[lengths.argmin()]))
            node = int(tails[path[-1]])
        return SparseAtom(tuple(reversed(path)), (self.flow,) * len(path))

    def minimum(self, c: Array) -> Any:
        return self.flow * self._distances(c)[self.sink]

    def violation(self, beta: Array) -> Any:
        tails, heads = self.edges.T
        balance = np.zeros(self.nodes, dtype=beta.dtype)
        np.add.at(balance, heads, beta)
        np.subtract.at(balance, tails, beta)
        balance[self.source] += self.flow
        balance[self.sink] -= self.flow
        return np.max([-beta.min(), abs(balance).max(), 0]) / self.flow

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """Σ β_e·(distance of the tail + c_e − distance of the head) over the edges e."""
        distances, useful = self._distances(c), self._useful
        tails, heads = self.edges[useful].T
        detours = np.maximum(distances[tails] + c[useful] - distances[heads], 0)
        return (np.maximum(beta[useful], 0) * detours).sum()

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        count = len(self.edges)
        signs = np.repeat([-1.0, 1.0], count)
        places = (self.edges.T.ravel(), np.tile(np.arange(count), 2))
        incidence = sp.csr_array((signs, places), shape=(self.nodes, count))
        supply = np.zeros(self.nodes)
        supply[[self.source, self.sink]] = -float(self.flow), float(self.flow)
        return 0, [beta >= 0, incidence @ beta == supply]


def _depths(edges: Array) -> Array:
    """The length of the longest path that ends in each node; a sentence for a cycle."""
    graph: TopologicalSorter[int] = TopologicalSorter()
    for tail, head in edges.tolist():
        graph.add(head, tail)
    try:
        graph.prepare()
    except CycleError as error:
        raise ValueError(
            f"edges of FlowPolytope hold a cycle, on the way into node {min(error.args[1])}, "
            "around which any amount could flow; expected a graph without cycles"
        ) from None
    depths, depth = np.zeros(int(edges.max()) + 1, dtype=int), 0
    while ready := graph.get_ready():
        depths[list(ready)] = depth
        graph.done(*ready)
        depth += 1
    return depths


def _reached(start: int, tails: Array, heads: Array) -> Array:
    """Which nodes a path from ``start`` reaches."""
    from scipy.sparse.csgraph import breadth_first_order

    nodes = int(max(tails.max(), heads.max())) + 1
    graph = sp.csr_array((np.ones(len(tails)), (tails, heads)), (nodes, nodes))
    reached = np.zeros(nodes, dtype=bool)
    reached[breadth_first_order(graph, start, return_predecessors=False)] = True
    return reached


def _are_nodes(values: Array) -> bool:
    """Whole numbers ≥ 0; as fractions too, into which exact problems turn them."""
    entries: list[Any] = values.ravel().tolist()
    return all(isinstance(e, Rational) and e.denominator == 1 and not e < 0 for e in entries)
