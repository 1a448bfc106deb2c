"""The command line, for the tests of the bench."""

import pytest
from schedlab.bench.cli import main


@pytest.fixture
def bench(capsys):
    """Runs a command in this process: (exit code, standard output, standard error)."""

    def run(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run
