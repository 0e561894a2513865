#!/usr/bin/env bash
# Runs what the documentation says, word for word, on machines that have never seen Ridgepoint: new
# roots with nothing of this machine's but its network, and a clone of HEAD.
#
#   scripts/fresh-machine.sh [--first] [MACHINE...]
#
# The two commands of README's first screen, and then those that docs/installing.md begins with (--first: README's
# first command alone, without the link-time optimisation, which takes four minutes of processor time):
#
#   debian12   a bare Debian 12
#   debian13   a bare Debian 13
#   rustup     Debian 12 with rustup, which has an old stable and a nightly alone; libclang-cpp is
#              there and libclang is not; the packages rustc-web and so on cannot be installed
#
# What the author of a package of kernels does, from the installation to a bug that `check` finds:
#
#   author     Debian 12 with a C linker and rustup, and nothing else: no libclang, no python
#
# Without a MACHINE, all four. Needs root, debootstrap and debian-archive-keyring.
# Prints what the commands print, without the lines of installers, of cargo's progress and of single
# tests, and how long they took. Ends with 1 if a command fails or leaves nothing to show.
set -euo pipefail
cd "$(dirname "$0")/.."

OLD_STABLE=1.90.0
MIRROR=http://deb.debian.org
# As the guides have them, but for the folder to install in.
AUTHOR=(
    'cargo install --locked --path . --root /usr/local'
    'cd /tmp && ridgepoint new demo && cd demo && cargo test && ridgepoint check --'
    'cd /tmp/demo && cargo bench -- roofline --output demo.csv --plot demo.svg'
    'cd /tmp/demo && cargo bench -- occupancy --axis block=64,128,256,512,1024 --output occ.csv'
    'cd /tmp/demo && cargo bench -- check && cargo bench && cargo bench -- compare --tolerance 100%'
    'cd /tmp/demo && export CARGO_TARGET_DIR=/tmp/target && cargo test && ridgepoint check --'
)
RUSTUP_INIT=https://static.rust-lang.org/rustup/dist/x86_64-unknown-linux-gnu/rustup-init

main() {
    local first_only='' machine
    if [ "${1:-}" = --first ]; then
        first_only=yes
        shift
    fi
    for machine; do
        case "$machine" in
        debian12 | debian13 | rustup | author) ;;
        *) fail "no machine is called $machine: debian12, debian13, rustup, author" ;;
        esac
    done
    [ $# -gt 0 ] || set -- debian12 debian13 rustup author
    [ "$(id -u)" -eq 0 ] || fail "needs root: a root file system of its own is made and entered"
    command -v debootstrap >/dev/null || fail "needs debootstrap (apt-get install debootstrap)"
    git diff --quiet HEAD || echo "note: uncommitted changes are not in the clone"
    local installing
    mapfile -t commands < <(first_block README.md)
    mapfile -t installing < <(first_block docs/installing.md)
    [ ${#commands[@]} -eq 2 ] || fail "README.md begins with ${#commands[@]} commands, not 2"
    [ ${#installing[@]} -eq 2 ] || fail "docs/installing.md begins with ${#installing[@]} commands, not 2"
    commands+=("${installing[@]}")
    if [ -n "$first_only" ]; then
        commands=("${commands[0]}")
    fi

    work=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
    trap clean_up EXIT
    failed=0
    for machine; do
        root=$work/$machine
        echo "== $machine, commit $(git rev-parse --short HEAD), $(date -u +%F), $(nproc) cores"
        make "$machine"
        if [ "$machine" = author ]; then
            be_an_author
        else
            be_a_reader
        fi
        forget_root
    done
    exit $failed
}

# first_block PAGE: the commands that a page begins with.
first_block() { awk '/^```sh$/ { inside = 1; next } /^```$/ && inside { exit } inside' "$1"; }

# Also in a clone that belongs to another user than root.
git() { command git -c safe.directory='*' "$@"; }

fail() {
    echo "fresh-machine.sh: $1" >&2
    exit 2
}

clean_up() {
    [ -z "${root:-}" ] || forget_root
    rm -rf --one-file-system "$work"
}

forget_root() {
    umount -l "$root/dev" "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$root"
}

# make MACHINE: a root at $root with a clone of HEAD in it.
make() {
    local release=bookworm
    [ "$1" != debian13 ] || release=trixie
    debootstrap --force-check-gpg --variant=minbase "$release" "$root" "$MIRROR/debian" >"$work/log" 2>&1 ||
        { tail -n 20 "$work/log"; fail "debootstrap failed"; }
    cat >"$root/etc/apt/sources.list" <<EOF
deb $MIRROR/debian $release main
deb $MIRROR/debian $release-updates main
deb $MIRROR/debian-security $release-security main
EOF
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --make-rslave "$root/dev"
    # The network: the resolver, and the certificates of those who stand in it.
    cp /etc/resolv.conf "$root/etc/"
    mkdir -p "$root/usr/local/share/ca-certificates"
    cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" 2>/dev/null || true
    git clone --quiet --no-hardlinks . "$root/root/ridgepoint"
    case "$1" in
    rustup) prepared=(have_an_old_rustup) ;;
    author) prepared=(have_a_linker_and_rustup) ;;
    *) return 0 ;;
    esac
    inside "${prepared[@]}" >"$work/log" 2>&1 || { tail -n 20 "$work/log"; fail "$1 could not be made"; }
    inside rustup toolchain list
}

# Run in the root.
have_an_old_rustup() {
    printf 'Package: rustc-web cargo-web rust-web-* rustfmt-web\nPin: release *\nPin-Priority: -1\n' \
        >/etc/apt/preferences.d/no-rustc-web
    install_rustup "$OLD_STABLE" libclang-cpp14 && rustup toolchain install nightly --profile minimal &&
        rustup default "$OLD_STABLE"
}

have_a_linker_and_rustup() {
    local channel
    channel=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
    install_rustup none gcc libc6-dev && rustup toolchain install && rustup default "$channel"
}

# install_rustup TOOLCHAIN PACKAGE...
install_rustup() {
    local toolchain=$1
    shift
    apt-get update -q && apt-get install -qy --no-install-recommends ca-certificates curl "$@" &&
        curl -sSf -o /tmp/rustup-init "$RUSTUP_INIT" && chmod +x /tmp/rustup-init &&
        /tmp/rustup-init -y --quiet --profile minimal --default-toolchain "$toolchain"
}

# inside COMMAND...: a command, or a function of this script, in the root's clone with an environment
# of the root's own.
inside() {
    local network
    mapfile -t network < <(env | grep -iE '^([a-z_]*proxy|[A-Z_]*(CERT|CERT_FILE|CA_BUNDLE|CAINFO))=' || true)
    chroot "$root" env -i "${network[@]}" HOME=/root LANG=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive \
        PATH=/root/.cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        RUSTUP_INIT=$RUSTUP_INIT OLD_STABLE=$OLD_STABLE \
        bash -c "$(declare -f have_an_old_rustup have_a_linker_and_rustup install_rustup)"'; cd /root/ridgepoint && eval "$*"' - "$@"
}

# attempt COMMAND: runs it in the root, shows what it said, and fails as it does.
attempt() {
    local command=$1 status=0 before=$SECONDS
    echo "\$ $command"
    inside "$command" >"$work/log" 2>&1 || status=$?
    grep -E "$SHOWN" "$work/log" || true
    test_totals
    echo "rc $status after $(((SECONDS - before) / 60)) min $(((SECONDS - before) % 60)) s"
    return $status
}

succeed() {
    if ! attempt "$1"; then
        tail -n 40 "$work/log"
        failed=1
        return 1
    fi
}

be_a_reader() {
    local command
    for command in "${commands[@]}"; do
        succeed "$command" || return 0
    done
    if ! grep -q ^k,ai, "$root/root/ridgepoint/roofline.csv" || ! [ -s "$root/root/ridgepoint/roofline.svg" ]; then
        echo "the first command left no roofline.csv or no roofline.svg"
        failed=1
    fi
}

be_an_author() {
    local command clean
    for command in "${AUTHOR[@]}"; do
        succeed "$command" || return 0
    done
    # There is no ptxas, which counts registers: that is said, and where to get it.
    command='cd /tmp/demo && cargo bench -- kernels'
    if attempt "$command" || ! grep '^error: no registers .*`ridgepoint doctor`' "$work/log"; then
        echo "registers were not asked for in vain"
        failed=1
    fi
    # A read of one element too many, and the check again in both target folders.
    sed -i -e 's|^    for (x, y) in|    let past = unsafe { *x.as_ptr().add(x.len()) };\n&|' \
        -e 's|a \* x;|a * x + past;|' "$root/tmp/demo/kernels/src/lib.rs"
    for command in 'cd /tmp/demo && ridgepoint check --' \
        'cd /tmp/demo && CARGO_TARGET_DIR=/tmp/target ridgepoint check --'; do
        if attempt "$command" || ! grep -m1 'out of bounds: .* reads element' "$work/log"; then
            echo "the access out of bounds was not found"
            failed=1
        fi
    done
}

# What setup.sh and ridgepoint say, and when cargo has finished.
SHOWN='^([A-Za-z][A-Za-z0-9 ]{0,18} +(missing|/|V[0-9]|v[0-9])|    Finished|     Running `|Device:|The emulator|f32 roofs|ridge point|[┌│╞└]|[0-9]+ rows|Chart:|Created|Checked|  in order|warning: |error)'

# Adds up cargo's "test result" lines. A run of tests that passed none has shown nothing.
test_totals() {
    case "$command" in *"cargo test"*) ;; *) return 0 ;; esac
    awk '/^test result:/ { passed += $4; failed += $6; ignored += $8 }
        END { printf "tests: %d passed, %d failed, %d ignored\n", passed, failed, ignored; exit !passed }' \
        "$work/log" || status=1
}

main "$@"
