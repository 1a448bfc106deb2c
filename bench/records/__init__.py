"""Records of runs: their fields, their files, and their verification."""

from ...later import names_later

INNER = {  # module: names that other packages of schedlab read; they are not public
    "record": ("answer", "failed", "outcome", "plain", "platform_of", "times"),
    "store": (
        "NAME",
        "Store",
        "faults_of_manifest",
        "files",
        "jobs_file",
        "name_of",
        "read",
        "stem_of",
        "write_manifest",
    ),
    "verify": ("Checker", "Instances", "faults_of_form"),
}
__getattr__ = names_later(__name__, inner=INNER)
