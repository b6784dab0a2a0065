"""One page that says how good a model is, and where it goes wrong.

`measure_report` measures a model on held-out rows, `report_page` writes what it found as a page of HTML that needs
nothing else. On the command line both are `labeltree evaluate --report`.
"""

from labeltree.report.measures import Report, TreeMeasures, measure_report
from labeltree.report.page import report_page

__all__ = ["Report", "TreeMeasures", "measure_report", "report_page"]
