from fasttext_system import FastText
from measure import main


class OneVersusAll(FastText):
    loss = "ova"


main(OneVersusAll)
