"""What is shown in the terminal: tables of results, instances, logs and sites."""
