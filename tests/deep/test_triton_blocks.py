"""The kernels for GPUs beside their twins in torch: on a GPU if there is one, else in Triton's interpreter."""

from __future__ import annotations

import os
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # read when the kernels are defined
pytest.importorskip("triton")

from labeltree.deep.networks import plain_blocks, triton_blocks  # noqa: E402
from labeltree.deep.networks.block_products import BlockGradient  # noqa: E402
from labeltree.deep.networks.blocks import Blocks  # noqa: E402
from labeltree.deep.training.row_adam import RowAdam  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
#: Dimension, rows, blocks of a row, width of a block: numbers that fill the tiles of the kernels, and that do not.
SHAPES = [(16, 4, 2, 16), (37, 40, 3, 5), (130, 5, 2, 40), (520, 3, 2, 18), (8, 3, 1, 2)]


def random_case(dimension: int, n_rows: int, n_blocks: int, width: int) -> tuple[Any, Any, Any, Blocks]:
    """Hidden vectors, vectors of nodes, amounts, and blocks of a tree with few nodes, so that rows share blocks."""
    random = torch.Generator().manual_seed(0)
    sizes = torch.randint(1, width + 1, (4,), generator=random)
    sizes[0] = width
    begins = torch.cat([torch.zeros(1, dtype=torch.int64), sizes.cumsum(0)])
    chosen = torch.stack([torch.randperm(4, generator=random)[:n_blocks] for _ in range(n_rows)])
    size = sizes[chosen] * (torch.rand(chosen.shape, generator=random) < 0.8)
    blocks = Blocks(begins[chosen].to(DEVICE), size.to(DEVICE), width)
    hidden = torch.randn(n_rows, dimension, generator=random).to(DEVICE)
    vectors = torch.randn(int(begins[-1]), dimension + 1, generator=random).to(DEVICE)
    amounts = torch.randn(n_rows, n_blocks * width, generator=random).to(DEVICE) * blocks.is_node()
    return hidden, vectors, amounts, blocks


@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_those_of_torch(shape: tuple[int, int, int, int]) -> None:
    hidden, vectors, _, blocks = random_case(*shape)
    found, is_node = triton_blocks.products(hidden, vectors, blocks), blocks.is_node()
    expected = plain_blocks.products(hidden, vectors, blocks)
    torch.testing.assert_close(found[is_node], expected[is_node], rtol=1e-4, atol=1e-4)
    assert found.isfinite().all()


@pytest.mark.parametrize("shape", SHAPES)
def test_weighted_sums_are_those_of_torch(shape: tuple[int, int, int, int]) -> None:
    _, vectors, amounts, blocks = random_case(*shape)
    found = triton_blocks.weighted_sums(amounts, vectors, blocks)
    expected = plain_blocks.weighted_sums(amounts, vectors, blocks)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_step_is_that_of_row_adam(
    shape: tuple[int, int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden, start, amounts, blocks = random_case(*shape)
    amounts[:, 0] = 0  # a candidate without a gradient
    steps = {}
    for kernels in (None, triton_blocks):
        monkeypatch.setattr("labeltree.deep.training.row_adam.gpu_kernels", lambda _, own=kernels: own)
        vectors = torch.nn.Parameter(start.clone())
        optimizer = RowAdam([vectors], lr=0.1, beta=0.9)
        for factor in (1.0, -0.3, 2.0):
            BlockGradient(hidden, factor * amounts, blocks).leave_with(vectors)
            optimizer.step()
        state = optimizer.state[vectors]
        steps[kernels] = vectors.detach(), state["moment"], state["visits"]
    assert not torch.equal(steps[None][0], start)
    for found, expected in zip(steps[triton_blocks], steps[None], strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
