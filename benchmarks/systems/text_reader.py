"""How long one system's reader of the text format takes. It runs in the environment of that system.

text_reader.py READER FILE THREADS REPEAT
"""

import sys
import time

from measure import reporter


def labeltree_reader():
    from labeltree.data import read_xmlc

    return lambda path, threads: read_xmlc(path, n_jobs=threads)


def napkinxc_reader():
    from napkinxc.datasets import load_libsvm_file

    return lambda path, threads: load_libsvm_file(path)


def omikuji_reader():
    import omikuji
    from omikuji import ffi, lib

    def read(path, threads):
        pool = omikuji._ThreadPoolHandle(threads)
        data = lib.load_omikuji_data_set(path.encode(), pool.ptr)
        if data == ffi.NULL:
            raise RuntimeError(f"omikuji cannot read {path}")
        return ffi.gc(data, lib.free_omikuji_data_set)

    return read


def sklearn_reader():
    from sklearn.datasets import load_svmlight_file

    return lambda path, threads: load_svmlight_file(path, multilabel=True, zero_based=True)


def main():
    name, path, threads, repeat = sys.argv[1:]
    report = reporter()
    read = globals()[f"{name}_reader"]()
    seconds = []
    for _ in range(int(repeat)):
        start = time.perf_counter()
        data = read(path, int(threads))
        seconds.append(time.perf_counter() - start)
        report(seconds=seconds)
        del data


main()
