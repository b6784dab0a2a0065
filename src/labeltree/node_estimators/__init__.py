"""Any scikit-learn classifier in the nodes of a label tree."""
