"""Files of instances: reading text, TOML and CSV within limits; writing all files or none."""
