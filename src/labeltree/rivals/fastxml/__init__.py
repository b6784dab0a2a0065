"""Ensembles of trees over examples: FastXML and PfastreXML."""

from labeltree.rivals.fastxml.classifier import FastXMLClassifier, PfastreXMLClassifier

__all__ = ["FastXMLClassifier", "PfastreXMLClassifier"]
