"""Makes `.venv` and installs the locked packages: the first step of every `make` target, on the standard library alone.

Runs under whatever `python3` there is, finds Python 3.11, and is safe to cut off: a layer's stamp is written when the layer is
whole, so a second run mends what the first one left. With everything in place it takes a blink. The code keeps to what an
older Python 3 (from 3.7) can parse, so that the message about the version is seen there too.

    bootstrap.py [LAYER ...]        layers: base, engine, dev (default: base engine)
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMPS = VENV / "tackroom-stamps"
LOG = ROOT / ".tackroom" / "logs" / "install.log"
REQUIREMENTS = ROOT / "requirements"
NEEDED_BYTES = {"base": 1_500_000_000, "engine": 3_000_000_000, "dev": 700_000_000}
ATTEMPTS = 2
NETWORK_SIGNS = ("Connection", "timed out", "Temporary failure", "IncompleteRead", "ProtocolError", "503", "502")


class BootstrapError(Exception):
    """Set-up cannot go on; the message says what was expected, what was found and what to do."""


def say(text: str) -> None:
    """One progress line, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def find_python() -> str:
    """The path of a Python 3.11. Raises BootstrapError naming what was found instead."""
    seen = []
    for candidate in (sys.executable, "python3.11", "python3", "/usr/bin/python3.11"):
        path = shutil.which(candidate) if candidate else None
        if path is None:
            continue
        probe = [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        result = subprocess.run(probe, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        version = result.stdout.decode().strip()
        if version == "3.11":
            return path
        seen.append(f"{path} is Python {version or 'that does not start'}")
    found = "; ".join(dict.fromkeys(seen)) or "no python3 at all"
    raise BootstrapError(
        "Tackroom runs on Python 3.11; found: " + found + ".\n"
        "Install it (Debian, Ubuntu: apt-get install python3.11 python3.11-venv) or name it: make PYTHON=/path/to/python3.11 ..."
    )


def check_disk(layers: list[str]) -> None:
    """Raise BootstrapError where the disk cannot take what is still to be installed."""
    needed = sum(NEEDED_BYTES[layer] for layer in layers)
    free = shutil.disk_usage(str(ROOT)).free
    if free < needed:
        raise BootstrapError(
            f"Installing needs about {needed / 1e9:.1f} GB in {ROOT}; {free / 1e9:.1f} GB are free. Make room and run this again."
        )


def venv_works() -> bool:
    """Whether `.venv` has a Python 3.11 with pip that starts: one cut off half-way, moved or outlived by its Python does not."""
    if not PYTHON.exists():
        return False
    script = f"import sys, pip; sys.exit(sys.version_info[:2] != (3, 11) or sys.prefix != {str(VENV)!r})"
    return subprocess.run([str(PYTHON), "-c", script], stderr=subprocess.DEVNULL).returncode == 0


def make_venv() -> None:
    """Create `.venv` afresh. Raises BootstrapError."""
    python = find_python()
    if VENV.exists():
        say("  .venv is broken or belongs to another Python: making it again")
        shutil.rmtree(str(VENV))
    say("  making .venv with " + python)
    result = subprocess.run([python, "-m", "venv", str(VENV)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        shutil.rmtree(str(VENV), ignore_errors=True)
        raise BootstrapError(
            "The virtual environment could not be made: "
            + result.stdout.decode(errors="replace").strip()[-600:]
            + "\nOn Debian and Ubuntu the missing part is: apt-get install python3.11-venv"
        )


def engine_lock() -> Path:
    """The lock of the engine for this machine. A CUDA machine brings its own `vllm`, see requirements/engine-cuda.in."""
    return REQUIREMENTS / "engine-cpu.lock"


def lock_of(layer: str) -> Path:
    """The lock file of a layer."""
    return engine_lock() if layer == "engine" else REQUIREMENTS / (layer + ".lock")


def fingerprint(layer: str) -> str:
    """What a layer's stamp holds: it changes with the lock."""
    return hashlib.sha256(lock_of(layer).read_bytes()).hexdigest()


def is_installed(layer: str) -> bool:
    """Whether the layer was installed whole from the lock as it is now."""
    stamp = STAMPS / layer
    return stamp.exists() and stamp.read_text().strip() == fingerprint(layer)


def run_pip(arguments: list[str], what: str) -> None:
    """Run pip into the log, once more where the network failed. Raises BootstrapError with the log's end."""
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    for attempt in range(1, ATTEMPTS + 1):
        start = LOG.stat().st_size if LOG.exists() else 0
        with LOG.open("ab") as log:
            code = wait_telling(subprocess.Popen(command, stdout=log, stderr=log, cwd=str(ROOT)), what)
        if code == 0:
            return
        tail = LOG.read_bytes()[start:].decode(errors="replace")
        if attempt < ATTEMPTS and any(sign in tail for sign in NETWORK_SIGNS):
            say("  the network failed; once more")
            continue
        full = " The disk is full: make room." if "No space left" in tail else ""
        shown = "\n".join("    " + line for line in tail.strip().splitlines()[-12:])
        raise BootstrapError(
            "Installing "
            + what
            + " failed."
            + full
            + "\n"
            + shown
            + "\nThe whole log: "
            + str(LOG)
            + ". Then run this again."
        )


def forget_unfinished() -> None:
    """Remove the metadata of packages whose installation was cut off, which pip would take for installed.

    pip writes INSTALLER last but one, so a package without it is not whole.
    """
    for folder in VENV.glob("lib/python3.11/site-packages/*.dist-info"):
        if not (folder / "INSTALLER").exists():
            say(f"  {folder.name} was cut off: installing it again")
            shutil.rmtree(str(folder))


def wait_telling(process: subprocess.Popen[bytes], what: str) -> int:
    """Wait for a child; every 15 seconds a line that it still works."""
    started = time.monotonic()
    while True:
        try:
            return process.wait(15)
        except subprocess.TimeoutExpired:
            say(f"  still installing {what} ({time.monotonic() - started:.0f} s)")
        except BaseException:
            process.terminate()
            process.wait()
            raise


def install(layer: str) -> None:
    """Install one layer from its lock and stamp it."""
    lock = lock_of(layer)
    stamp = STAMPS / layer
    if stamp.exists():
        stamp.unlink()
    count = sum("==" in line for line in lock.read_text().splitlines())
    say(f"  installing {count} packages from {lock.relative_to(ROOT)}")
    run_pip(["install", "--no-deps", "--no-compile", "-r", str(lock)], layer)
    if layer == "engine":
        mend_torch()
    STAMPS.mkdir(exist_ok=True)
    stamp.write_text(fingerprint(layer) + "\n")


def compile_packages() -> None:
    """Compile everything once, on all cores (pip uses one). Three engine processes import torch and vLLM at every start: this
    halves it, also where Python may not write bytecode itself. What cannot be compiled is imported from source, as ever.
    """
    say("  compiling packages")
    command = [str(PYTHON), "-m", "compileall", "-q", "-j", "0", str(VENV / "lib")]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def mend_torch() -> None:
    """Where the index has no CPU build of torch, its CUDA build came, which does not load without its own libraries: add them."""
    probe = [str(PYTHON), "-c", "import torch"]
    if subprocess.run(probe, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
        return
    torch = next(line for line in engine_lock().read_text().splitlines() if line.startswith("torch=="))
    say("  this index has torch for CUDA only: installing the libraries that it loads (about 3 GB)")
    run_pip(["install", torch], "torch's libraries")
    result = subprocess.run(probe, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        raise BootstrapError("torch does not load: " + result.stdout.decode(errors="replace").strip()[-400:])


def set_up(layers: list[str]) -> None:
    """Make `.venv` where it does not work, and install what is missing. Raises BootstrapError."""
    works = venv_works()
    missing = [layer for layer in layers if not (works and is_installed(layer))]
    if not missing:
        return
    say(f"Setting up (log: {LOG.relative_to(ROOT)})")
    check_disk(missing)
    started = time.monotonic()
    if works:
        forget_unfinished()
    else:
        make_venv()
    for layer in missing:
        install(layer)
    compile_packages()
    say(f"  packages are in place ({time.monotonic() - started:.0f} s)")


def main(layers: list[str]) -> int:
    """Bring `.venv` to the locks of `layers`; 0 when it is there, 1 after a message."""
    unknown = [layer for layer in layers if layer not in NEEDED_BYTES]
    if unknown:
        say("Unknown layer: {}. Layers: {}.".format(", ".join(unknown), ", ".join(NEEDED_BYTES)))
        return 1
    if os.environ.get("TACKROOM_ENGINE_PACKAGES") == "own":
        # A CUDA machine with requirements/engine-cuda.in, or an installation whose engine runs elsewhere.
        layers = [layer for layer in layers if layer != "engine"]
    try:
        if venv_works() and all(is_installed(layer) for layer in layers):
            return 0
        LOG.parent.mkdir(parents=True, exist_ok=True)
        with (LOG.parent / "install.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # a second `make` beside this one waits, then finds the work done
            set_up(layers)
    except BootstrapError as error:
        say("\n" + str(error))
        return 1
    except OSError as error:
        say(f"\nSet-up stopped: {error}. Mend that and run this again.")
        return 1
    except KeyboardInterrupt:
        say("\nStopped. Run this again to go on.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["base", "engine"]))
