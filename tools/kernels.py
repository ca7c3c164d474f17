"""Compile the kernels of the decoders into the user's cache, so that the first run need not: with nothing to
compile it takes seconds, otherwise most of a minute. Two processes share the work."""

import subprocess
import sys

COMPILE = "from lcons_tasks.experiments.engine._rows import compile_kernels; compile_kernels({})"
SHARES = (("soft", "viterbi"), ("exact", "beam"))


def main() -> int:
    commands = [[sys.executable, "-c", COMPILE.format(share)] for share in SHARES]
    processes = [subprocess.Popen(command) for command in commands]
    return max(process.wait() for process in processes)


if __name__ == "__main__":
    sys.exit(main())
