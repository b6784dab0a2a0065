"""Hidden vectors and the vectors of blocks of siblings, computed by Triton on a GPU.

The functions are those of `plain_blocks`. Vectors are read where they are, and gradients are never written: each
program of `step` sums up the gradients of some nodes, and moves their vectors at once. Each number has one program that
writes it, so that the results are the same each time.
"""

# Triton compiles the annotations of kernels too, so that they have none but `constexpr`.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, disallow-untyped-decorators=False

import torch
import triton
import triton.language as tl
from torch import Tensor

from labeltree.deep.networks.blocks import Blocks

#: Nodes and numbers that a program has at a time, and texts whose hidden vectors it adds at a time.
_NODES, _NUMBERS = 32, 128
_STEP_NODES, _STEP_NUMBERS, _STEP_ROWS = 16, 256, 16


def products(hidden: Tensor, vectors: Tensor, blocks: Blocks) -> Tensor:
    """Return the product of each hidden vector with the vectors of its candidates: see `plain_blocks`."""
    hidden = hidden.contiguous()
    n_rows, n_blocks = blocks.begin.shape
    found = torch.empty(n_rows, n_blocks * blocks.width, dtype=vectors.dtype, device=vectors.device)
    with torch.cuda.device_of(vectors):
        _products[(n_rows * n_blocks, triton.cdiv(blocks.width, _NODES))](
            hidden,
            vectors,
            blocks.begin,
            blocks.size,
            found,
            hidden.shape[1],
            n_blocks,
            blocks.width,
            NODES=_NODES,
            NUMBERS=_NUMBERS,
        )
    return found


@triton.jit
def _products(
    hidden,
    vectors,
    begin,
    size,
    found,
    dimension,
    n_blocks,
    width,
    NODES: tl.constexpr,
    NUMBERS: tl.constexpr,
):
    """One program for each block of a text, and some of its nodes."""
    block = tl.program_id(0).to(tl.int64)
    place = tl.program_id(1) * NODES + tl.arange(0, NODES)
    is_node = place < tl.load(size + block)
    own = vectors + (tl.load(begin + block) + place) * (dimension + 1)
    text = hidden + (block // n_blocks) * dimension
    total = tl.load(own + dimension, mask=is_node, other=0.0).to(tl.float32)
    for first in range(0, dimension, NUMBERS):
        number = first + tl.arange(0, NUMBERS)
        inside = number < dimension
        h = tl.load(text + number, mask=inside, other=0.0).to(tl.float32)
        v = tl.load(own[:, None] + number[None, :], mask=is_node[:, None] & inside[None, :], other=0.0)
        total += tl.sum(v.to(tl.float32) * h[None, :], axis=1)
    tl.store(found + block * width + place, total, mask=place < width)


def weighted_sums(amounts: Tensor, vectors: Tensor, blocks: Blocks) -> Tensor:
    """Return for each text the sum of the vectors of its candidates, each times its amount: see `plain_blocks`."""
    amounts = amounts.contiguous()
    n_rows, n_blocks = blocks.begin.shape
    dimension = vectors.shape[1] - 1
    found = torch.empty(n_rows, dimension, dtype=vectors.dtype, device=vectors.device)
    with torch.cuda.device_of(vectors):
        _weighted_sums[(n_rows, triton.cdiv(dimension, _NUMBERS))](
            amounts,
            vectors,
            blocks.begin,
            blocks.size,
            found,
            dimension,
            n_blocks,
            blocks.width,
            NODES=_NODES,
            NUMBERS=_NUMBERS,
        )
    return found


@triton.jit
def _weighted_sums(
    amounts,
    vectors,
    begin,
    size,
    found,
    dimension,
    n_blocks,
    width,
    NODES: tl.constexpr,
    NUMBERS: tl.constexpr,
):
    """One program for each text, and some numbers of its sum."""
    row = tl.program_id(0).to(tl.int64)
    number = tl.program_id(1) * NUMBERS + tl.arange(0, NUMBERS)
    inside = number < dimension
    total = tl.zeros([NUMBERS], dtype=tl.float32)
    for block in range(row * n_blocks, (row + 1) * n_blocks):
        n_nodes = tl.load(size + block)
        own = vectors + tl.load(begin + block) * (dimension + 1)
        for first in range(0, n_nodes, NODES):
            place = first + tl.arange(0, NODES)
            is_node = place < n_nodes
            amount = tl.load(amounts + block * width + place, mask=is_node, other=0.0).to(tl.float32)
            v = tl.load(
                own + place[:, None] * (dimension + 1) + number[None, :],
                mask=is_node[:, None] & inside[None, :],
                other=0.0,
            )
            total += tl.sum(amount[:, None] * v.to(tl.float32), axis=0)
    tl.store(found + row * dimension + number, total, mask=inside)


def step(
    vectors: Tensor,
    moment: Tensor,
    visits: Tensor,
    hidden: Tensor,
    amounts: Tensor,
    blocks: Blocks,
    rate: float,
    beta: float,
    epsilon: float,
) -> None:
    """Make the step of `RowAdam`, in place.

    Parameters
    ----------
    vectors : tensor of shape (n_nodes, dimension + 1)
    moment, visits : tensors of shape (n_nodes,)
        The state of the optimizer.
    hidden, amounts, blocks
        The factors of the gradient: see `BlockGradient`.
    rate, beta, epsilon : float
    """
    # The texts of a block are found side by side; blocks without nodes come last.
    key = torch.where(blocks.size > 0, blocks.begin, len(vectors)).flatten()
    key, order = key.sort(stable=True)
    with torch.cuda.device_of(vectors):
        _step[(len(key), triton.cdiv(blocks.width, _STEP_NODES))](
            vectors,
            moment,
            visits,
            hidden.contiguous(),
            amounts.contiguous(),
            blocks.size,
            key,
            order,
            len(vectors),
            len(key),
            vectors.shape[1] - 1,
            blocks.begin.shape[1],
            blocks.width,
            rate,
            beta,
            epsilon,
            NODES=_STEP_NODES,
            NUMBERS=_STEP_NUMBERS,
            ROWS=_STEP_ROWS,
        )


@triton.jit
def _step(
    vectors,
    moment,
    visits,
    hidden,
    amounts,
    size,
    key,
    order,
    n_nodes,
    n_keys,
    dimension,
    n_blocks,
    width,
    rate,
    beta,
    epsilon,
    NODES: tl.constexpr,
    NUMBERS: tl.constexpr,
    ROWS: tl.constexpr,
):
    """One program for each block and some of its nodes: the first text that has the block works, the others do not."""
    first = tl.program_id(0)
    own_key = tl.load(key + first)
    before = tl.load(key + first - 1, mask=first > 0, other=-1)
    n_own = tl.load(size + tl.load(order + first))
    place = tl.program_id(1) * NODES + tl.arange(0, NODES)
    if (own_key != before) & (own_key < n_nodes) & (tl.program_id(1) * NODES < n_own):
        is_node = place < n_own
        node = own_key + place
        # The mean square of a gradient comes first: it decides the length of the step.
        of_bias = tl.zeros([NODES], dtype=tl.float32)
        square = tl.zeros([NODES], dtype=tl.float32)
        for begin in range(0, dimension, NUMBERS):
            number = begin + tl.arange(0, NUMBERS)
            total, of_bias = _gradients(
                hidden, amounts, key, order, own_key, first, n_keys, place, is_node, number,
                dimension, n_blocks, width, NODES, NUMBERS, ROWS,
            )  # fmt: skip
            square += tl.sum(total * total, axis=1)
        square = (square + of_bias * of_bias) / (dimension + 1)
        # Candidates without a gradient are not visited.
        seen = is_node & (square > 0)
        own_moment = beta * tl.load(moment + node, mask=seen, other=0.0) + (1 - beta) * square
        own_visits = tl.load(visits + node, mask=seen, other=0.0) + 1
        tl.store(moment + node, own_moment, mask=seen)
        tl.store(visits + node, own_visits, mask=seen)
        corrected = own_moment / (1 - tl.exp2(own_visits * tl.log2(beta)))
        length = rate / (tl.sqrt(corrected) + epsilon)
        own = vectors + node * (dimension + 1)
        for begin in range(0, dimension, NUMBERS):
            number = begin + tl.arange(0, NUMBERS)
            total, _ = _gradients(
                hidden, amounts, key, order, own_key, first, n_keys, place, is_node, number,
                dimension, n_blocks, width, NODES, NUMBERS, ROWS,
            )  # fmt: skip
            inside = seen[:, None] & (number < dimension)[None, :]
            at = own[:, None] + number[None, :]
            tl.store(at, tl.load(at, mask=inside, other=0.0) - length[:, None] * total, mask=inside)
        bias = tl.load(own + dimension, mask=seen, other=0.0)
        tl.store(own + dimension, bias - length * of_bias, mask=seen)


@triton.jit
def _gradients(
    hidden,
    amounts,
    key,
    order,
    own_key,
    first,
    n_keys,
    place,
    is_node,
    number,
    dimension,
    n_blocks,
    width,
    NODES: tl.constexpr,
    NUMBERS: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Some numbers of the gradients of nodes, and the gradients of their biases."""
    total = tl.zeros([NODES, NUMBERS], dtype=tl.float32)
    of_bias = tl.zeros([NODES], dtype=tl.float32)
    inside = (number < dimension)[None, :]
    begin = first
    n_found = ROWS
    while n_found == ROWS:
        at = begin + tl.arange(0, ROWS)
        has_block = tl.load(key + at, mask=at < n_keys, other=-1) == own_key
        block = tl.load(order + at, mask=has_block, other=0)
        amount = tl.load(
            amounts + block[None, :] * width + place[:, None],
            mask=is_node[:, None] & has_block[None, :],
            other=0.0,
        ).to(tl.float32)
        h = tl.load(
            hidden + (block // n_blocks)[:, None] * dimension + number[None, :],
            mask=has_block[:, None] & inside,
            other=0.0,
        ).to(tl.float32)
        total += tl.dot(amount, h, input_precision="tf32x3")
        of_bias += tl.sum(amount, axis=1)
        n_found = tl.sum(has_block.to(tl.int32))
        begin += ROWS
    return total, of_bias
