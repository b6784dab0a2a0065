from fasttext_model import FastText
from measure import main


class OneVersusAll(FastText):
    loss = "ova"


main(OneVersusAll)
