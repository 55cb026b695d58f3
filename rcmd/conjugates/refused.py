"""Losses that are often asked for and cannot be had, each with the reason."""

from typing import Any, ClassVar, NoReturn

from rcmd.conjugates.base import SeparableConjugate


class Refused(SeparableConjugate):
    """A loss without a finite γ; making one is a ``ValueError`` that says what to use instead."""

    reason: ClassVar[str]

    def __new__(cls, *arguments: Any, **named: Any) -> NoReturn:
        """Refuse, with the reason."""
        raise ValueError(f"the {cls.__name__} loss is refused: {cls.reason}")


class Poisson(Refused):
    """exp(s) − ys, whose second derivative exp(s) has no upper bound.

    Examples
    --------
    >>> Poisson()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: the Poisson loss is refused: exp(s) − ys is not γ-smooth ...
    """

    formula = "exp(s) − ys"
    spec = "poisson"
    reason = (
        "exp(s) − ys is not γ-smooth (its second derivative exp(s) has no bound, so that no step "
        "size and no theorem applies); for counts use LeastSquares() or Huber() on the labels "
        "2·sqrt(y), whose variance is about 1, or a count model with a softplus rate"
    )


class Exponential(Refused):
    """exp(−ys), whose second derivative has no upper bound.

    Examples
    --------
    >>> Exponential()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: the Exponential loss is refused: exp(−ys) is not γ-smooth ...
    """

    formula = "exp(−ys)"
    spec = "exponential"
    reason = (
        "exp(−ys) is not γ-smooth (its second derivative exp(−ys) has no bound, so that no step "
        "size and no theorem applies); use Logistic(), which agrees with it for confident "
        "predictions of the right sign and grows linearly where it explodes, or SquaredHinge()"
    )
