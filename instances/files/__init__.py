"""Files of instances: reading text, TOML and CSV within limits; writing all files or none."""

from ...later import names_later

INNER = {  # module: names that other packages of schedlab read; they are not public
    "reading": (
        "Folder",
        "ForeignFile",
        "content_of",
        "exact_of",
        "json_number_of",
        "json_whole_of",
        "line_blocks",
        "number_of",
        "own_file",
        "read_lines",
        "span_of",
        "whole_of",
    ),
    "writing": ("NotReadable", "move_whole", "to_csv", "to_toml", "whole_file", "write_files", "write_whole"),
}
__getattr__ = names_later(__name__, inner=INNER)
