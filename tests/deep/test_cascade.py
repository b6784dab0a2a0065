"""The output layer of a network: its gradients beside those of a flat one, its candidates, and its optimum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")

from labeltree.deep.levels import PositiveNodes, TreeLevels  # noqa: E402
from labeltree.deep.networks.block_products import BlockGradient, BlockProducts  # noqa: E402
from labeltree.deep.networks.blocks import Blocks  # noqa: E402
from labeltree.deep.networks.output_layers import AttentionLayer, NodeVectorLayer  # noqa: E402
from labeltree.deep.training.cascade import Cascade  # noqa: E402
from labeltree.deep.training.row_adam import RowAdam  # noqa: E402
from labeltree.exchange import GuidedSearch, NodeBlocks  # noqa: E402
from labeltree.labels.reading import LabelRows, read_labels  # noqa: E402
from labeltree.trees import LabelTree  # noqa: E402

TREES = {
    "flat": LabelTree.flat(7),
    "one label": LabelTree.flat(1),
    "wide": LabelTree.from_nested([[0, 1, 2], [3, 4], [5, 6]]),
    "uneven": LabelTree.from_nested([[0, [1, 2]], 3, [[4, 5], 6]]),
}
CPU = torch.device("cpu")


class Output:
    """A network that has hidden vectors already."""

    def __init__(self, layer: Any) -> None:
        self.layer = layer

    def scores(self, encoded: Any, tier: int, nodes: Any = None) -> Any:
        return self.layer(encoded, tier, nodes)


def random_labels(tree: LabelTree, n_rows: int = 12, empty: bool = False) -> LabelRows:
    rng = np.random.default_rng(0)
    least = 0 if empty else 1
    rows = [
        sorted(
            rng.choice(tree.n_labels, rng.integers(least, min(3, tree.n_labels) + 1), replace=False).tolist()
        )
        for _ in range(n_rows)
    ]
    return read_labels([*rows, list(range(tree.n_labels))]).take(np.arange(n_rows))


def random_layer(tree: LabelTree, dimension: int = 5) -> Any:
    torch.manual_seed(0)
    layer = NodeVectorLayer(TreeLevels.of(tree).sizes, dimension)
    for tier in layer.tiers:
        torch.nn.init.normal_(tier)
    return layer


def gradient_of(vectors: Any) -> Any:
    """The gradient of vectors as a matrix, if it is dense or in factors."""
    factors = BlockGradient.taken_from(vectors)
    if factors is None:
        return vectors.grad
    nodes, values = factors.sums(vectors.dtype)
    return torch.zeros_like(vectors).index_add(0, nodes, values)


def expected_loss(tree: LabelTree, labels: LabelRows, hidden: Any, vectors: Any, trains_root: bool) -> Any:
    """The loss in the words of PyTorch, over all nodes whose parent is positive."""
    scores = hidden @ vectors[:, :-1].T + vectors[:, -1]
    z = torch.zeros_like(scores)
    for row in range(labels.n_rows):
        for label in labels.indices[labels.indptr[row] : labels.indptr[row + 1]]:
            z[row, tree.path(int(label)).tolist()] = 1
    parent = torch.from_numpy(tree.parent[1:].astype(np.int64))
    trained = torch.hstack([torch.full_like(z[:, :1], trains_root), z[:, parent]])
    losses = torch.nn.functional.binary_cross_entropy_with_logits(scores, z, reduction="none")
    return (losses * trained).sum() / labels.n_rows


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("name", TREES)
def test_gradients_by_blocks_are_those_of_all_nodes_at_once(name: str, empty: bool) -> None:
    tree = TREES[name]
    labels, layer, levels = random_labels(tree, empty=empty), random_layer(tree), TreeLevels.of(tree)
    hidden = torch.randn(labels.n_rows, 5, requires_grad=True)
    # A beam of 0 follows positive nodes only, so that candidates are the children of these.
    cascade = Cascade(levels, 0, empty, CPU)
    targets = cascade.targets(PositiveNodes.of(tree, labels))
    loss = cascade.loss(Output(layer), hidden, targets, levels.n_tiers)
    loss.backward()
    vectors = torch.cat([tier.detach() for tier in layer.tiers]).requires_grad_()
    same = hidden.detach().clone().requires_grad_()
    expected = expected_loss(tree, labels, same, vectors, empty)
    expected.backward()
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(hidden.grad, same.grad)
    found = torch.cat([gradient_of(tier) for tier in layer.tiers])
    torch.testing.assert_close(found, vectors.grad)


def test_candidates_add_the_children_of_the_best_nodes() -> None:
    tree = TREES["wide"]
    levels, layer = TreeLevels.of(tree), random_layer(tree)
    labels = read_labels([[0], list(range(7))]).take(np.array([0]))
    hidden = torch.randn(1, 5)
    with torch.no_grad():
        layer.tiers[0][1:, -1] = torch.tensor([-5.0, 9.0, -9.0])  # the second cluster seems the best
    cascade = Cascade(levels, 2, False, CPU)
    targets = cascade.targets(PositiveNodes.of(tree, labels))
    cascade.loss(Output(layer), hidden, targets, 2).backward()
    touched = gradient_of(layer.tiers[1]).any(dim=1).nonzero().flatten().tolist()
    assert touched == [0, 1, 2, 3, 4]  # labels of the true cluster, and of the best one


def test_products_with_blocks_have_the_gradients_of_a_gather(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labeltree.deep.networks.plain_blocks.GATHERED", 60)  # several parts
    torch.manual_seed(0)
    hidden = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    vectors = torch.nn.Parameter(torch.randn(9, 5, dtype=torch.float64))
    begin = torch.tensor([[0, 6], [3, 0], [6, 3], [3, 6], [0, 3], [6, 0]])
    size = torch.tensor([[3, 3], [2, 3], [3, 0], [2, 3], [3, 2], [3, 0]])
    blocks = Blocks(begin, size, 3)
    amounts = torch.randn(6, 6, dtype=torch.float64) * blocks.is_node()
    products = BlockProducts.apply(hidden, vectors, blocks)
    (products * amounts).sum().backward()
    plain, other = (tensor.detach().clone().requires_grad_() for tensor in (hidden, vectors))
    expected = (plain.unsqueeze(1) * other[blocks.nodes(), :-1]).sum(dim=2) + other[blocks.nodes(), -1]
    (expected * amounts).sum().backward()
    torch.testing.assert_close(products * blocks.is_node(), expected * blocks.is_node())
    torch.testing.assert_close(hidden.grad, plain.grad)
    assert vectors.grad is None
    torch.testing.assert_close(gradient_of(vectors), other.grad)


def test_attention_to_candidates_is_attention_to_all_nodes() -> None:
    torch.manual_seed(0)
    layer = AttentionLayer([4, 6], 8, [5]).double()
    hidden = torch.randn(3, 7, 8, dtype=torch.float64)
    is_word = torch.arange(7) < torch.tensor([7, 2, 1]).unsqueeze(1)
    nodes = torch.tensor([[0, 5], [3, 3], [1, 2]])
    every = layer((hidden, is_word), 1)
    torch.testing.assert_close(layer((hidden, is_word), 1, nodes), every.gather(1, nodes))
    torch.testing.assert_close(layer((hidden, is_word), 1, torch.tensor([4, 1])), every[:, [4, 1]])
    # By hand, for one row and node: the softmax of the products weighs the words that there are.
    vector, words = layer.tiers[1][5], hidden[1, :2]
    weights = torch.softmax(words @ vector[:-1], dim=0)
    torch.testing.assert_close(every[1, 5], layer.shared(weights @ words)[0] + vector[-1])


@pytest.mark.parametrize("name", ["wide", "uneven"])
def test_a_wide_beam_finds_what_exact_search_finds(name: str) -> None:
    tree = TREES[name]
    layer, levels = random_layer(tree), TreeLevels.of(tree)
    hidden = torch.randn(20, 5)
    vectors = torch.cat([tier.detach() for tier in layer.tiers])
    scores = hidden @ vectors[:, :-1].T + vectors[:, -1]
    scores[:, 0] = 1000.0
    chances = torch.sigmoid(scores).numpy()

    def ask(blocks: NodeBlocks) -> Any:
        return chances[blocks.row, blocks.node]

    expected = GuidedSearch(tree, 20, 3).run(ask).top_labels().labels
    found = Cascade(levels, 7, False, CPU).best(Output(layer), hidden, 3)
    np.testing.assert_array_equal(found.numpy(), expected)


def test_training_level_by_level_reaches_the_known_optimum() -> None:
    # Texts of four kinds, each a hidden vector of its own; labels are drawn with known probabilities, so that the
    # optimum of every node is the share of positives among the texts whose parent is positive.
    tree = LabelTree.from_nested([[0, 1], [2, 3]])
    levels = TreeLevels.of(tree)
    rng = np.random.default_rng(0)
    kind = rng.integers(4, size=400)
    chances = rng.uniform(0.1, 0.9, size=(4, 4))
    rows = [np.flatnonzero(rng.random(4) < chances[k]).tolist() or [int(k)] for k in kind]
    labels = read_labels(rows)
    hidden = torch.eye(4)[torch.from_numpy(kind)]
    layer = NodeVectorLayer(levels.sizes, 4)
    # The beam has no room but for positive nodes, so that a node learns P(node | its parent is positive).
    cascade = Cascade(levels, 0, False, CPU)
    targets = cascade.targets(PositiveNodes.of(tree, labels))
    optimizers = [torch.optim.Adam([layer.tiers[0]], lr=0.05), RowAdam([layer.tiers[1]], lr=0.05)]
    for step in range(600):
        for optimizer in optimizers:
            optimizer.zero_grad()
            optimizer.param_groups[0]["lr"] = 0.1 * (1 - step / 600)
        cascade.loss(Output(layer), hidden, targets, 1 if step < 100 else 2).backward()
        for optimizer in optimizers:
            optimizer.step()
    with torch.no_grad():
        vectors = torch.cat(list(layer.tiers))
        found = torch.sigmoid(torch.eye(4) @ vectors[:, :-1].T + vectors[:, -1]).numpy()
    positive = np.zeros((400, tree.n_nodes), dtype=bool)
    for row, own in enumerate(rows):
        for label in own:
            positive[row, tree.path(label)] = True
    for node in range(1, tree.n_nodes):
        for k in range(4):
            some = (kind == k) & positive[:, tree.parent[node]]
            assert found[k, node] == pytest.approx(positive[some, node].mean(), abs=0.02)


def test_row_adam_is_adam_of_rows() -> None:
    vectors = torch.nn.Parameter(torch.zeros(4, 2))
    optimizer = RowAdam([vectors], lr=0.1, beta=0.9)
    moment, visits, expected = np.zeros(4), np.zeros(4), np.zeros((4, 2))
    rng = np.random.default_rng(0)
    for rows in ([0, 2], [2], [1, 2]):
        values = rng.normal(size=(len(rows), 2)).astype(np.float32)
        vectors.grad = torch.sparse_coo_tensor([rows], torch.from_numpy(values.copy()), (4, 2))
        optimizer.step()
        moment[rows] = 0.9 * moment[rows] + 0.1 * (values**2).mean(axis=1)
        visits[rows] += 1
        scale = np.sqrt(moment[rows] / (1 - 0.9 ** visits[rows]))
        expected[rows] -= 0.1 * values / scale[:, np.newaxis]
    np.testing.assert_allclose(vectors.detach().numpy(), expected, rtol=1e-4, atol=1e-6)
    assert vectors[3].tolist() == [0, 0]
    # A gradient of 0 is no visit: the next step would be too long.
    vectors.grad = torch.sparse_coo_tensor([[2]], torch.zeros(1, 2), (4, 2))
    optimizer.step()
    assert optimizer.state[vectors]["visits"].tolist() == [1, 1, 3, 0]
