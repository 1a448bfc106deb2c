"""Commands about folders of results: statistics, comparisons, reports."""
