"""A PyTorch encoder with a label tree for its output layer, beside the linear model.

    pip install torch
    python examples/torch_label_tree.py

An ordinary output layer scores all 15,803 subjects of every artwork. Here an example trains only the nodes of a tree
that `node_targets` names, and a prediction scores only the blocks that `GuidedSearch` asks for.
"""

import time
from collections.abc import Callable

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor, nn

from labeltree import LabelTree, LabelTreeClassifier
from labeltree.datasets import load_tate
from labeltree.exchange import GuidedSearch, NodeBlocks, node_targets
from labeltree.metrics import precision_at_k

WIDTH, EPOCHS, BATCH, LEARNING_RATE = 192, 4, 256, 0.05


class TreeNetwork(nn.Module):
    """Words → a weighted sum of their vectors → a hidden layer → its products with the vectors of nodes."""

    def __init__(self, n_words: int, tree: LabelTree) -> None:
        super().__init__()
        # Sparse gradients: a batch touches few words and few nodes.
        self.words = nn.EmbeddingBag(n_words, WIDTH, mode="sum", sparse=True)
        self.hidden = nn.Linear(WIDTH, WIDTH)
        self.nodes = nn.Embedding(tree.n_nodes, WIDTH + 1, sparse=True)  # the last column is the bias
        nn.init.normal_(self.words.weight, std=0.1)
        nn.init.zeros_(self.nodes.weight)

    def encode(self, X: csr_matrix) -> Tensor:
        words, begin = (torch.from_numpy(a).long() for a in (X.indices, X.indptr[:-1]))
        summed = self.words(words, begin, per_sample_weights=torch.from_numpy(X.data))
        coded = summed + torch.relu(self.hidden(summed))
        return nn.functional.pad(coded, (0, 1), value=1.0)

    def scores(self, coded: Tensor, blocks: NodeBlocks) -> Tensor:
        """A score for every entry of `blocks`: siblings are scored together, as one matrix product."""
        asked = list(blocks.by_parent())
        nodes = torch.from_numpy(np.concatenate([block.nodes for block in asked]))
        vectors = self.nodes(nodes).split([len(block.nodes) for block in asked])
        scores = [
            coded[torch.from_numpy(block.rows)] @ siblings.T
            for block, siblings in zip(asked, vectors, strict=True)
        ]
        place = torch.from_numpy(np.concatenate([block.entries.ravel() for block in asked]))
        flat = torch.cat([part.flatten() for part in scores])
        return torch.zeros_like(flat).scatter(0, place, flat)


def train(network: TreeNetwork, tree: LabelTree, X: csr_matrix, y: csr_matrix) -> None:
    optimizer = torch.optim.Adagrad(network.parameters(), lr=LEARNING_RATE)
    loss_of = nn.BCEWithLogitsLoss(reduction="sum")
    for epoch in range(EPOCHS):
        started, total = time.perf_counter(), 0.0
        for rows in torch.randperm(X.shape[0]).split(BATCH):
            # The way down: which nodes learn from these rows, and what.
            targets = node_targets(tree, y[rows.numpy()])
            scores = network.scores(network.encode(X[rows.numpy()]), targets)
            loss = loss_of(scores, torch.from_numpy(targets.target)) / len(rows)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        print(f"epoch {epoch + 1}: loss {total / X.shape[0]:.3f}, {time.perf_counter() - started:.0f} s")


@torch.no_grad()
def predict(network: TreeNetwork, tree: LabelTree, X: csr_matrix, k: int = 5) -> np.ndarray:
    coded = network.encode(X)

    def probabilities(wanted: NodeBlocks) -> np.ndarray:
        return torch.sigmoid(network.scores(coded, wanted)).numpy()

    # The way up: the search says what to score next, for all rows at once, and finds the k best labels exactly.
    search = GuidedSearch(tree, X.shape[0], k).run(probabilities)
    print(f"{search.n_evaluations.mean():.0f} of {tree.n_nodes} nodes were scored per row")
    return search.top_labels().labels


def report(name: str, fit_and_predict: Callable[[], np.ndarray], y_test: csr_matrix) -> None:
    started = time.perf_counter()
    labels = fit_and_predict()
    figures = "  ".join(f"P@{k} {100 * precision_at_k(y_test, labels, k=k):.2f}" for k in (1, 3, 5))
    print(f"{name:>8}: {figures}  ({time.perf_counter() - started:.0f} s)")


def main() -> None:
    X_train, y_train, X_test, y_test, _, _ = load_tate().to_matrices()
    linear = LabelTreeClassifier(n_jobs=-1, random_state=0)
    report("linear", lambda: linear.fit(X_train, y_train).predict_topk(X_test).labels, y_test)

    torch.manual_seed(0)
    torch.sparse.check_sparse_tensor_invariants.disable()  # as by default, but it warns unless told
    tree = linear.tree_  # any LabelTree will do

    def learn() -> np.ndarray:
        network = TreeNetwork(X_train.shape[1], tree)
        train(network, tree, X_train, y_train)
        return predict(network, tree, X_test)

    report("network", learn, y_test)


if __name__ == "__main__":
    main()
