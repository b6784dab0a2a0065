import numpy as np
from experiments.negative_sampler import SHORTLIST, main, rerank
from tests.documents import documents

from labeltree import LabelTreeClassifier, OneVsRestClassifier
from labeltree.data import write_xmlc


def test_a_shortlist_is_ranked_by_the_other_model():
    X, y = documents(200, 80, 40)
    tree, judge = (kind(random_state=0).fit(X, y) for kind in (LabelTreeClassifier, OneVsRestClassifier))
    proposed = tree.predict_topk(X[:20], SHORTLIST)
    probability = judge.predict_proba(X[:20], top_k=40).toarray()
    for by_product in (False, True):
        found = rerank(tree, judge, by_product, X[:20])
        for i, labels in enumerate(found):
            value = probability[i, proposed.labels[i]]
            if by_product:
                value = value * proposed.probabilities[i]
            best = proposed.labels[i, np.argsort(-value, kind="stable")[:5]]
            np.testing.assert_array_equal(labels, best)


def test_a_page_has_a_line_for_every_way_to_rank(tmp_path):
    X, y = documents(200, 80, 40)
    write_xmlc(tmp_path / "train.txt", X[:150], y[:150])
    write_xmlc(tmp_path / "test.txt", X[150:], y[150:])
    main(["--data", str(tmp_path), "--output", str(tmp_path / "page.md")])
    lines = [line for line in (tmp_path / "page.md").read_text().splitlines() if line.startswith("| ")]
    names = [line.split(" | ")[0].removeprefix("| ") for line in lines[2:]]
    assert names == [
        "label tree",
        *(
            f"1-vs-all, {negatives}{kind}"
            for negatives in ("all negatives", "negatives of the tree")
            for kind in ("", ", re-ranked", ", re-ranked by the product")
        ),
    ]
