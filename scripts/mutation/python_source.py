"""Places of Python sources that can be changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mutation.mutant import Place

OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"), ast.Add: ("+", "-"), ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "*"),
    ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"), ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
LOGS = ("logger.", "log.", "_log.", "_logger.")


def find_places(source: bytes) -> list[Place]:
    """Find the places of a module."""
    return list(_Finder(source).walk(ast.parse(source), "module"))


class _Finder:
    def __init__(self, source: bytes) -> None:
        self._source = source
        self._line_starts = [0]
        for line in source.splitlines(keepends=True):
            self._line_starts.append(self._line_starts[-1] + len(line))

    def walk(self, node: ast.AST, function: str) -> Iterator[Place]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            function = node.name if function == "module" else f"{function}.{node.name}"
        yield from self._changes(node, function)
        for name, value in ast.iter_fields(node):
            if self._is_mutated(node, name):
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        yield from self.walk(child, function)

    @staticmethod
    def _is_mutated(node: ast.AST, field: str) -> bool:
        """Types and messages stay as they are; positions inside f-strings are not known."""
        if isinstance(node, ast.JoinedStr | ast.Raise | ast.arg):
            return False
        if isinstance(node, ast.AnnAssign):
            return field == "value"
        if isinstance(node, ast.match_case):
            return field == "body"
        if isinstance(node, ast.If) and _is_type_checking(node):
            return False
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return False
        return field not in {"decorator_list", "returns", "bases"}

    def _changes(self, node: ast.AST, function: str) -> Iterator[Place]:
        def change(replacement: str, at: ast.AST = node, kind: str = "change") -> Place:
            start, end = self._span(at)
            return Place(function, kind, start, end, replacement.encode())

        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
                yield change(self._swapped(node, left, operator, right))
        elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            if not any(_is_text(part) for part in (node.left, node.right)):
                yield change(self._swapped(node, node.left, node.op, node.right))
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield change(self._swapped(node, left, node.op, right))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield change(self._text(node.operand))
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield change(str(not node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            yield change(f"({self._text(node)} + 1)")
            if node.value:
                yield change(f"({self._text(node)} - 1)")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMES:
            yield change(NAMES[node.func.id] + self._text(node)[len(node.func.id) :])
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await):
            if not self._text(node).startswith(LOGS):
                yield change("pass", kind="remove")
        elif _is_removable(node):
            yield change("pass", kind="remove")
        conditions = node.ifs if isinstance(node, ast.comprehension) else []
        if isinstance(node, ast.If | ast.While | ast.IfExp) and not _is_type_checking(node):
            conditions = [node.test]
        for condition in conditions:
            if not _has_own_opposite(condition):
                yield change(f"not ({self._text(condition)})", condition, "negate")

    def _swapped(self, node: ast.AST, left: ast.AST, operator: ast.AST, right: ast.AST) -> str:
        (start, end), (_, left_end), (right_start, _) = map(self._span, (node, left, right))
        old, new = OPERATORS[type(operator)]
        between = self._source[left_end:right_start].replace(old.encode(), new.encode(), 1)
        return (self._source[start:left_end] + between + self._source[right_start:end]).decode()

    def _span(self, node: ast.AST) -> tuple[int, int]:
        begin = self._line_starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        return begin, self._line_starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def _text(self, node: ast.AST) -> str:
        start, end = self._span(node)
        return self._source[start:end].decode()


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_type_checking(node: ast.If | ast.While | ast.IfExp) -> bool:
    return ast.unparse(node.test) == "TYPE_CHECKING"


def _is_removable(node: ast.AST) -> bool:
    """A local variable that is not assigned is a NameError, which proves little."""
    if isinstance(node, ast.Assign):
        return not isinstance(node.targets[0], ast.Name | ast.Tuple)
    if isinstance(node, ast.Return):
        return node.value is None
    return isinstance(node, ast.Raise | ast.Continue | ast.Break | ast.AugAssign | ast.Delete)


def _has_own_opposite(condition: ast.expr) -> bool:
    """Whether another change of a condition is its opposite."""
    if isinstance(condition, ast.Compare):
        return isinstance(condition.ops[0], ast.Eq | ast.NotEq | ast.Is | ast.IsNot | ast.In | ast.NotIn)
    return isinstance(condition, ast.UnaryOp | ast.Constant | ast.NamedExpr)


def wrap(mutant_id: str, place: Place) -> tuple[bytes, bytes]:
    """The texts around a place that note that it was reached."""
    note = f"mutation_reached(0x{mutant_id})".encode()
    if place.kind == "remove":
        return note + b"; ", b""
    return b"(" + note + b" or (", b"))"
