"""Places of C++ sources that can be changed."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter
import tree_sitter_cpp

from mutation.mutant import Place

OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "&&": "||", "||": "&&",
    "&": "|", "|": "&", "<<": ">>", ">>": "<<",
    "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "|=": "&=", "&=": "|=",
}  # fmt: skip
CALLS = {"std::min": "std::max", "std::max": "std::min"}
# Here a constant expression is needed, or only a type or a message is made.
SKIPPED = {
    "ERROR", "template_argument_list", "template_parameter_list", "static_assert_declaration", "array_declarator",
    "abstract_array_declarator", "enumerator", "decltype", "sizeof_expression", "alignas_qualifier", "noexcept",
    "requires_clause", "concept_definition", "attribute_declaration", "throw_statement", "preproc_if",
    "preproc_function_def", "bitfield_clause", "parameter_list",
}  # fmt: skip
REMOVED_EXPRESSIONS = {"assignment_expression", "update_expression", "call_expression"}
REMOVED_STATEMENTS = {"throw_statement", "continue_statement", "break_statement"}
PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))


def find_places(source: bytes) -> list[Place]:
    """Find the places in the bodies of functions that are not constexpr."""
    return list(_walk(PARSER.parse(source).root_node, "", in_body=False))


def _walk(node: tree_sitter.Node, function: str, in_body: bool) -> Iterator[Place]:
    if node.type in SKIPPED:
        if node.type == "throw_statement" and in_body and not _ends_function(node):
            yield Place(function, "remove", node.start_byte, node.end_byte, b"")
        return
    if _is_constexpr(node):
        return
    if node.type in {"class_specifier", "struct_specifier"}:
        name = node.child_by_field_name("name")
        function = _text(name) if name else function
    elif node.type == "function_definition":
        declarator = node.child_by_field_name("declarator")
        if not in_body and declarator is not None:
            own = _text(declarator).split("(")[0].strip("&* ")
            function = f"{function}::{own}" if function else own
        for child in node.children:
            body = child.type in {"compound_statement", "field_initializer_list"}
            if body:
                yield from _walk(child, function, in_body=True)
        return
    if in_body:
        yield from _changes(node, function)
    for i, child in enumerate(node.children):
        if node.type == "case_statement" and node.field_name_for_child(i) == "value":
            continue
        yield from _walk(child, function, in_body)


def _changes(node: tree_sitter.Node, function: str) -> Iterator[Place]:
    text = _text(node)

    def change(replacement: str, at: tree_sitter.Node = node, kind: str = "change") -> Place:
        return Place(function, kind, at.start_byte, at.end_byte, replacement.encode())

    if node.type in {"binary_expression", "assignment_expression"}:
        operator = node.child_by_field_name("operator")
        swapped = OPERATORS.get(_text(operator)) if operator else None
        if operator and swapped:
            before, after = operator.start_byte - node.start_byte, operator.end_byte - node.start_byte
            encoded = node.text or b""
            yield change((encoded[:before] + swapped.encode() + encoded[after:]).decode())
    elif node.type == "unary_expression" and text.startswith("!"):
        yield change(f"!!({text[1:]})")
    elif node.type == "number_literal":
        yield change(f"{text} + 1")
        if not re.fullmatch(r"0[xX]?[0.']*[fFuUlL]*", text):
            yield change(f"{text} - 1")
    elif node.type in {"true", "false"}:
        yield change("false" if node.type == "true" else "true")
    elif node.type == "call_expression":
        called = node.child_by_field_name("function")
        if called is not None and _text(called) in CALLS:
            yield change(CALLS[_text(called)] + text[len(_text(called)) :])
    elif node.type in {"if_statement", "conditional_expression"}:
        condition = node.child_by_field_name("condition")
        if condition is not None and condition.type == "condition_clause":
            condition = condition.child_by_field_name("value")
        is_constant = any(child.type == "constexpr" for child in node.children)
        if condition is not None and not is_constant and not _has_own_opposite(condition):
            yield change(f"!({_text(condition)})", condition, "negate")
    elif node.type == "expression_statement" and node.named_children:
        if node.named_children[0].type in REMOVED_EXPRESSIONS:
            yield change("", kind="remove")
    elif _is_removable(node):
        yield change("", kind="remove")


def _has_own_opposite(condition: tree_sitter.Node) -> bool:
    """Whether another change of a condition is its opposite, or it is a declaration."""
    operator = condition.child_by_field_name("operator")
    return "declaration" in condition.type or (operator is not None and _text(operator) in {"==", "!=", "!"})


def _is_removable(node: tree_sitter.Node) -> bool:
    if node.type == "return_statement":
        return not node.named_children and not _ends_function(node)
    return node.type in REMOVED_STATEMENTS and not _ends_case(node)


def _is_constexpr(node: tree_sitter.Node) -> bool:
    if node.type not in {"declaration", "function_definition", "field_declaration", "if_statement"}:
        return False
    words = [
        _text(child) for child in node.children if child.type in {"type_qualifier", "storage_class_specifier"}
    ]
    return "constexpr" in words or "consteval" in words or ("static" in words and node.type == "declaration")


def _ends_function(node: tree_sitter.Node) -> bool:
    """Whether nothing comes after a statement: the compiler may then assume that it is always run."""
    while node.parent is not None and node.parent.type in {
        "compound_statement",
        "else_clause",
        "if_statement",
    }:
        if node.parent.type == "compound_statement" and node.parent.named_children[-1] != node:
            return False
        node = node.parent
    return node.parent is None or node.parent.type in {"function_definition", "lambda_expression"}


def _ends_case(node: tree_sitter.Node) -> bool:
    return node.type == "break_statement" and node.parent is not None and node.parent.type == "case_statement"


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode()


def wrap(mutant_id: str, place: Place) -> tuple[bytes, bytes]:
    """The texts around a place that choose between it and its replacement at run time."""
    chosen = f"mutation::is(0x{mutant_id}u)".encode()
    if place.kind == "remove":
        return b"{ if (!" + chosen + b") { ", b" } }"
    if place.kind == "negate":
        return b"(" + chosen + b" != static_cast<bool>(", b"))"
    return b"(" + chosen + b" ? (" + b" ".join(place.replacement.split()) + b") : (", b"))"
