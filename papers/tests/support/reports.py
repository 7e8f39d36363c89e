"""What stands in the files of an experiment."""

import csv


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def table_rows(report, first):
    """The cells of the table rows of a report whose first cell is this."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in report.splitlines()]
    return [row for row in rows if row and row[0] == first]
