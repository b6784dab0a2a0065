"""Readable names of labels: on models of every kind, in model files, and read from files."""

from __future__ import annotations

import gzip
import pickle
import shutil

import numpy as np
import pytest
from tests.unit.test_hostile_models import edit_document, the_file

import labeltree
from labeltree import DataFormatError, ModelFileError
from labeltree.labels import read_label_names
from labeltree.model_file import load, read_info
from labeltree.model_file.tensors import Tensor, map_tensors, write_tensors
from labeltree.text import Tagger

X = np.eye(4, dtype=np.float32)[[0, 1, 2, 3] * 3]
Y = [["T1"], ["T2"], ["T3"], ["T1", "T4"]] * 3
NAMES = {"T1": "cats", "T3": "döğs", "T9": "not a label of the model"}
KEPT = {"T1": "cats", "T3": "döğs"}

KINDS = {
    "label tree": labeltree.LabelTreeClassifier,
    "one-vs-rest": labeltree.OneVsRestClassifier,
    "fastxml": labeltree.FastXMLClassifier,
    "online": labeltree.OnlineLabelTreeClassifier,
    "mix": lambda: None,
}


def trained(kind):
    if kind == "mix":
        return labeltree.mix([trained("label tree"), trained("one-vs-rest")])
    return KINDS[kind](random_state=0).fit(X, Y)


each_kind = pytest.mark.parametrize("kind", KINDS)


class TestModel:
    @each_kind
    def test_a_new_model_has_no_names(self, kind):
        assert trained(kind).label_names_ is None

    @each_kind
    def test_names_for_other_labels_are_ignored(self, kind):
        model = trained(kind)
        model.label_names_ = NAMES
        assert model.label_names_ == KEPT

    @each_kind
    def test_names_are_saved_and_pickled(self, kind, tmp_path):
        model = trained(kind)
        model.save(tmp_path / "without")
        model.label_names_ = NAMES
        model.save(tmp_path / "model")
        info = read_info(tmp_path / "model")
        assert info.has_label_names
        loaded = load(tmp_path / "model", verify=True)
        assert loaded.label_names_ == KEPT
        assert pickle.loads(pickle.dumps(model)).label_names_ == KEPT
        assert loaded.predict_topk(X).labels.tolist() == model.predict_topk(X).labels.tolist()
        loaded.label_names_ = None
        loaded.save(tmp_path / "model")
        for path in (tmp_path / "without").iterdir():  # without names, byte for byte as before
            assert path.read_bytes() == (tmp_path / "model" / path.name).read_bytes()
        assert not read_info(tmp_path / "model").has_label_names

    def test_names_can_be_read_but_not_changed_in_place(self):
        model = trained("label tree")
        model.label_names_ = NAMES
        with pytest.raises(TypeError):
            model.label_names_["T1"] = "other"

    def test_a_name_that_is_the_label_itself_is_none(self):
        model = trained("label tree")
        model.label_names_ = {"T1": "T1"}
        assert model.label_names_ is None

    def test_if_no_label_has_a_name_the_error_shows_both(self):
        with pytest.raises(ValueError, match=r"labels are like 'T4', and names are for labels like 'cats'"):
            trained("label tree").label_names_ = {"cats": "T1"}

    def test_wrong_names_are_refused(self):
        model = trained("label tree")
        with pytest.raises(ValueError, match="a mapping from label to name"):
            model.label_names_ = ["cats"]
        with pytest.raises(ValueError, match="the name of the label 'T1' must be a text, got 3"):
            model.label_names_ = {"T1": 3}
        assert model.label_names_ is None

    def test_numbered_labels_have_names(self, tmp_path):
        model = labeltree.LabelTreeClassifier().fit(X, np.array([0, 1, 2, 3] * 3))
        model.label_names_ = {0: "zero", 3: "three"}
        model.save(tmp_path / "model")
        assert load(tmp_path / "model").label_names_ == {0: "zero", 3: "three"}
        assert model.label_names_[model.predict_topk(X[:1], 1).labels[0, 0]] == "zero"

    def test_calibrating_and_deciding_keep_the_names(self):
        model = trained("label tree")
        model.label_names_ = NAMES
        model.calibrate(X, Y)
        model.decide_for("micro_f1", X, Y)
        assert model.label_names_ == KEPT

    def test_online_models_keep_names_while_they_learn_and_forget(self):
        model = trained("online")
        model.label_names_ = NAMES
        model.partial_fit(X[:1], [["T5"]])
        assert model.label_names_ == KEPT
        assert model.freeze().label_names_ == KEPT
        model.forget(labels=["T1"])
        assert model.label_names_ == {"T3": "döğs"}
        model.forget(labels=["T3"])
        assert model.label_names_ is None

    def test_an_online_model_starts_with_the_names_of_its_batch_model(self):
        batch = labeltree.LabelTreeClassifier(loss="logistic").fit(X, Y)
        batch.label_names_ = NAMES
        assert labeltree.OnlineLabelTreeClassifier.from_batch(batch).label_names_ == KEPT

    def test_a_mix_has_the_names_of_its_first_model_that_has_some(self, tmp_path):
        first, second = trained("label tree"), trained("one-vs-rest")
        second.label_names_ = NAMES
        mixed = labeltree.mix([first, second])
        assert mixed.label_names_ == KEPT
        assert mixed.weigh_for("precision@1", X, Y).label_names_ == KEPT
        assert second.label_names_ == KEPT
        mixed.save(tmp_path / "mix")
        assert load(tmp_path / "mix").label_names_ == KEPT

    def test_a_tagger_has_the_names_of_its_classifier(self, tmp_path):
        tagger = Tagger().fit(["a cat", "a dog", "cats"], [["T1"], ["T2"], ["T1"]])
        tagger.label_names_ = {"T1": "cats"}
        tagger.save(tmp_path / "tagger")
        assert Tagger.load(tmp_path / "tagger").label_names_ == {"T1": "cats"}


class TestHostileFiles:
    @pytest.fixture
    def directory(self, tmp_path):
        model = trained("label tree")
        model.label_names_ = NAMES
        model.save(tmp_path / "model")
        return tmp_path / "model"

    @staticmethod
    def edit(directory, edit):
        """Change the tensors of the names, with checksums that fit."""
        path = the_file(directory, "label-names")
        with path.open("rb") as file:
            tensors = {
                name: Tensor(t, values.copy()) for name, (t, values) in map_tensors(file).tensors.items()
            }
        edit(tensors)
        with (directory / "new").open("wb") as file:
            written = write_tensors(file, tensors)
        name = f"label-names-{written.content[:32]}.safetensors"
        shutil.move(directory / "new", directory / name)
        entry = {"name": name, "bytes": written.n_bytes, "sha256": written.sha256}
        edit_document(directory, lambda document: document["files"].update(label_names=entry))

    def test_too_few_names(self, directory):
        def drop_last(tensors):
            tensors["text_begin"] = Tensor.of(tensors["text_begin"].values[:-1])

        self.edit(directory, drop_last)
        with pytest.raises(ModelFileError, match=r"label-names.*expected 5 offsets"):
            load(directory)

    def test_bytes_that_are_not_text(self, directory):
        def spoil(tensors):
            tensors["text"].values[0] = 0xFF

        self.edit(directory, spoil)
        with pytest.raises(ModelFileError, match=r"label-names.*utf-8"):
            load(directory)

    def test_no_names_at_all(self, directory):
        def erase(tensors):
            tensors["text"] = Tensor.of(np.empty(0, dtype=np.uint8))
            tensors["text_begin"] = Tensor.of(np.zeros(5, dtype=np.int64))

        self.edit(directory, erase)
        with pytest.raises(ModelFileError, match="no label has a name"):
            load(directory)

    @pytest.mark.parametrize("value", [None, "names", {"name": "x"}, []])
    def test_an_entry_that_is_no_file(self, directory, value):
        edit_document(directory, lambda document: document["files"].update(label_names=value))
        with pytest.raises(ModelFileError):
            load(directory)

    def test_an_older_version_with_names(self, directory):
        edit_document(directory, lambda document: document.update(format_version=1))
        with pytest.raises(ModelFileError, match="its sections are those of version 13"):
            load(directory)


TURTLE = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<http://ex.org/c/1> a skos:Concept ; skos:prefLabel "cats"@en, "Katzen"@de ; skos:notation "A.1" .
<http://ex.org/c/2> a skos:Concept ; skos:prefLabel "Hunde"@de ; skos:notation "A.2" .
<http://ex.org/c/3> a skos:Concept ; skos:prefLabel "birds" , "Vögel"@de ; skos:notation "A.3" .
"""


class TestReading:
    def write(self, tmp_path, name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("names.csv", 'T1,cats\nT2,"dogs, big"\n'),
            ("names.csv", 'label,name\nT1,cats\nT2,"dogs, big"\n'),
            ("names.csv", '\ufefftitle,other,ID\r\ncats,x,T1\r\n"dogs, big",y,T2\r\n'),
            ("names.csv", 'uri,label_de,label_en,notation\nT1,Katzen,cats,1\nT2,Hunde,"dogs, big",2\n'),
            ("names.csv", 'id,parent,name\nT1,,cats\nT2,T1,"dogs, big"\n'),
            ("names.tsv", "<T1>\tcats\tA.1\n<T2>\tdogs, big\tA.2\n"),
            ("names.TSV", "uri\tlabel\nT1\tcats\nT2\tdogs,  big \n"),
        ],
    )
    def test_tables(self, tmp_path, name, text):
        path = self.write(tmp_path, name, text)
        assert read_label_names(path, ["T2", "T1", "T3"]) == {"T2": "dogs, big", "T1": "cats"}

    def test_labels_are_compared_as_text_and_returned_as_they_are(self, tmp_path):
        path = self.write(tmp_path, "names.csv", "10,ten\n11,eleven\n")
        assert read_label_names(path, np.array([11, 12])) == {11: "eleven"}
        assert read_label_names(path, ["11"]) == {"11": "eleven"}

    def test_compressed_tables(self, tmp_path):
        (tmp_path / "names.csv.gz").write_bytes(gzip.compress(b"T1,cats\n"))
        assert read_label_names(tmp_path / "names.csv.gz", ["T1"]) == {"T1": "cats"}

    def test_lines_name_numbered_labels(self, tmp_path):
        path = self.write(tmp_path, "labels.txt", "zero\n\ntwo, and more\n")
        assert read_label_names(path, np.arange(3)) == {0: "zero", 2: "two, and more"}
        with pytest.raises(
            DataFormatError, match=r"expected 4 names of labels, one per line.*from 0 to 3; got 3"
        ):
            read_label_names(path, np.arange(4))

    @pytest.mark.parametrize(
        ("language", "labels", "names"),
        [
            ("en", ["http://ex.org/c/1", "http://ex.org/c/2"], ["cats", "Hunde"]),
            ("de", ["http://ex.org/c/1", "http://ex.org/c/3"], ["Katzen", "Vögel"]),
            ("fr", ["http://ex.org/c/3", "http://ex.org/c/1"], ["birds", "Katzen"]),
            ("en", ["A.1", "A.3"], ["cats", "birds"]),
            ("en", ["1", "3"], ["cats", "birds"]),
            ("en", [3, 1], ["birds", "cats"]),
        ],
    )
    def test_skos_vocabularies(self, tmp_path, language, labels, names):
        pytest.importorskip("rdflib")
        path = self.write(tmp_path, "vocabulary.ttl", TURTLE)
        found = read_label_names(path, labels, language=language)
        assert found == dict(zip(labels, names, strict=True))

    def test_if_no_label_is_there_the_error_shows_both(self, tmp_path):
        path = self.write(tmp_path, "names.csv", "T1,cats\n")
        with pytest.raises(ValueError, match=r"names\.csv: none of the labels.*like 'cow'.*like 'T1'"):
            read_label_names(path, ["cow"])

    def test_labels_that_are_names_already(self, tmp_path):
        path = self.write(tmp_path, "labels.txt", "cats\ndogs\n")
        with pytest.raises(ValueError, match="are names already, such as 'dogs'"):
            read_label_names(path, ["dogs", "cats"])

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("T1,cats\nT2\n", r"names\.csv:2: expected a label and its name, separated by a comma, got 'T2'"),
            ("T1,cats\nT1,dogs\n", r"csv:2: the label 'T1' has a second name, 'dogs', after 'cats'"),
            ("T1,cats\n,dogs\n", r"csv:2: the label is empty"),
            ('T1,"cats\n', r"csv:1: this is not CSV"),
        ],
    )
    def test_wrong_tables(self, tmp_path, text, message):
        path = self.write(tmp_path, "names.csv", text)
        with pytest.raises(DataFormatError, match=message):
            read_label_names(path, ["T1"])

    def test_an_empty_file_has_no_names(self, tmp_path):
        for name in ("names.csv", "names.txt"):
            with pytest.raises(ValueError, match="none of the labels"):
                read_label_names(self.write(tmp_path, name, ""), ["T1"])

    def test_a_missing_file(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            read_label_names(tmp_path / "names.csv", ["T1"])
