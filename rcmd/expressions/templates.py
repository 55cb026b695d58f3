"""Text that every generated module shares."""

from __future__ import annotations

import math

METHODS = {
    "value": "s, y",
    "derivative": "s, y",
    "second_derivative": "s, y",
    "conjugate": "w, y",
    "conjugate_derivative": "w, y",
    "conjugate_domain": "y",
    "fenchel_young": "s, w, y",
}

NEWTON = """\
def core_newton{mark}(w):
    # A bracket by doubling, then Newton's method that never leaves it.
    low, high, step = -1.0, 1.0, 1.0
    for _ in range(1000):
        if core_slope{mark}(low) <= w:
            break
        high, low, step = low, low - step, 2.0 * step
    for _ in range(1000):
        if core_slope{mark}(high) >= w:
            break
        low, high, step = high, high + step, 2.0 * step
    r = (low + high) / 2.0
    for _ in range(200):
        gap = core_slope{mark}(r) - w
        if gap > 0.0:
            high = r
        elif gap < 0.0:
            low = r
        else:
            return r
        bend = core_curvature{mark}(r)
        new = r - gap / bend if bend > 0.0 else low
        if not low < new < high:
            new = (low + high) / 2.0
        if abs(new - r) <= 2e-16 * abs(r):
            return new
        r = new
    return r
"""

# Gauss's rule with five points on [−1, 1]: places and weights.
_NODES = [(0.0, 128 / 225)]
_NODES += [
    (place, (322 + sign * 13 * math.sqrt(70)) / 900)
    for sign in (1, -1)
    for size in (math.sqrt(5 - sign * 2 * math.sqrt(10 / 7)) / 3,)
    for place in (size, -size)
]


def segment(mark: str) -> str:
    """∫ |r − x| l''(x) dx over [a, b], a sum of products that cannot cancel."""
    lines = [f"def core_segment{mark}(a, b, r):", "    m = (a + b) / 2.0", "    h = (b - a) / 2.0"]
    lines.append("    total = 0.0")
    for place, weight in _NODES:
        lines.append(f"    x = m + {place!r} * h")
        lines.append(f"    total += {weight!r} * abs(r - x) * core_curvature{mark}(x)")
    return "\n".join([*lines, "    return h * total\n"])


def fenchel_young(mark: str, breaks: list[str], reach: float, outside: list[str]) -> str:
    """The gap of (r, w): an integral of l'' where q = l*'(w) is near, the definition elsewhere."""
    lines = [f"def core_gap{mark}(r, w):", *(f"    {line}" for line in outside)]
    if reach > 0:
        near = "abs(q) < math.inf" if reach == math.inf else f"abs(r - q) <= {reach!r}"
        lines += [f"    q = core_inverse{mark}(w)", f"    if {near}:"]
        lines += ["        a, end = min(q, r), max(q, r)", "        total = 0.0"]
        for point in breaks:
            lines.append(f"        b = min(max({point}, a), end)")
            lines.append(f"        total += core_segment{mark}(a, b, r)")
            lines.append("        a = b")
        lines.append(f"        return total + core_segment{mark}(a, end, r)")
    lines.append(f"    return core_value{mark}(r) + core_conjugate{mark}(w) - w * r")
    return "\n".join(lines) + "\n"


def frame(
    mark: str,
    times: str,
    offset: str,
    tilt: str,
    constant: str,
    low: float | None,
    high: float | None,
) -> dict[str, list[str]]:
    """The bodies of the loss's functions in its own s, w and y, from those of its core."""
    plus_tilt = f" + {tilt}" if tilt else ""
    r = f"{times}s" + (f" - {offset}" if offset else "")
    v = f"{times}w" + (f" - {tilt}" if tilt else "")
    first, last = _bound(low, "-math.inf"), _bound(high, "math.inf")
    if tilt and (low is not None or high is not None):
        v = f"nudged({v}, {first}, {last}, {tilt})"
    linear = f" + {tilt} * ({r})" if tilt else ""
    slope = (
        f"{times}(core_slope{mark}({r}){plus_tilt})" if tilt else f"{times}core_slope{mark}({r})"
    )
    back = f"{times}core_inverse{mark}({v})" + (f" + {offset}" if offset else "")
    moved = f" + w * {offset}" if offset else ""
    ends = [f"return ({first}{plus_tilt}, {last}{plus_tilt})"]
    if times:
        first, last = _bound(_minus(high), "-math.inf"), _bound(_minus(low), "math.inf")
        ends = ["if y > 0.0:", f"    {ends[0]}", f"return ({first}, {last})"]
    return {
        "value": [f"return core_value{mark}({r}){linear}" + (f" + {constant}" if constant else "")],
        "derivative": [f"return {slope}"],
        "second_derivative": [f"return core_curvature{mark}({r})"],
        "conjugate": [
            f"return core_conjugate{mark}({v}){moved}" + (f" - {constant}" if constant else "")
        ],
        "conjugate_derivative": [f"return {back}"],
        "conjugate_domain": ends,
        "fenchel_young": [f"return core_gap{mark}({r}, {v})"],
    }


def _minus(end: float | None) -> float | None:
    return None if end is None else 0.0 - end


def _bound(end: float | None, otherwise: str) -> str:
    return otherwise if end is None else repr(end)
