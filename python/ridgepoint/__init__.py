"""The `ridgepoint` command as a wheel brings it, and `pytest --ridgepoint`."""

import os
import shutil
import sysconfig


def program():
    """Returns the path of the `ridgepoint` command: this wheel's, otherwise the first of PATH."""
    own = os.path.join(sysconfig.get_path("scripts"), "ridgepoint")
    found = own if os.access(own, os.X_OK) else shutil.which("ridgepoint")
    if found is None:
        raise FileNotFoundError(f"no ridgepoint at {own} and none on PATH: install the wheel")
    return found
