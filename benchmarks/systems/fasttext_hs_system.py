from fasttext_model import FastText
from measure import main


class HierarchicalSoftmax(FastText):
    loss = "hs"


main(HierarchicalSoftmax)
