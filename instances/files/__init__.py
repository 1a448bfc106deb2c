"""Files of instances: text and CSV files read within limits, written whole or not at all."""
