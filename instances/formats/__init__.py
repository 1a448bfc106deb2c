"""Readers and writers of file formats, one module per format or family of formats."""

from ...later import names_later

INNER = {  # module: names that other packages of schedlab read; they are not public
    "cooling_tables": ("SHIPPED", "UnknownCooling", "about", "cooling", "cooling_csv", "cooling_names", "read_cooling"),
    "eurora": ("EURORA_COLUMNS",),
    "sacct": ("sacct_trace",),
    "slurm_values": (
        "begin_after",
        "count_of_hosts",
        "duration",
        "gpus_in",
        "gres_gpus_of_job",
        "hosts_of",
        "memory",
        "tres",
        "waiting_tasks",
    ),
    "swf": ("FIELDS", "swf_trace"),
}
__getattr__ = names_later(__name__, inner=INNER)
