"""Losses from one expression: parsed, differentiated, conjugated, verified, generated."""

from rcmd.expressions.loss import ExpressionLoss
from rcmd.expressions.making import loss_from_expression
from rcmd.expressions.words import ExpressionError

__all__ = ["ExpressionError", "ExpressionLoss", "loss_from_expression"]
