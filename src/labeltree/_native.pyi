"""
The compiled kernel of labeltree. Private: everything public is re-exported by the package.
"""
