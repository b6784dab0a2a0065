"""An HTML page about the quality of a model and its errors.

`measure_report` measures a model on held-out rows, and `report_page` writes the result as a single HTML file. On the
command line both are `labeltree evaluate --report`.
"""

from labeltree.report.measures import Report, TreeMeasures, measure_report
from labeltree.report.page import report_page

__all__ = ["Report", "TreeMeasures", "measure_report", "report_page"]
