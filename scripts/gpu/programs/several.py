"""Several of the PyTorch programs in one process, which loads PyTorch once: several.py PROGRAM-VARIANT.. [torch]"""

import sys

import batches
import scalar
import train

PROGRAMS = {"batches": batches, "scalar": scalar, "train": train}

for word in sys.argv[1:]:
    if word != "torch":
        program, variant = word.split("-")
        PROGRAMS[program].main(variant)
