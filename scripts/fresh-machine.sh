#!/usr/bin/env bash
# Runs the commands of README's first screen, word for word, on machines that have never seen
# Ridgepoint: new roots with nothing of this machine's but its network, and a clone of HEAD.
#
#   scripts/fresh-machine.sh [--first] [MACHINE...]
#
#   debian12   a bare Debian 12
#   debian13   a bare Debian 13
#   rustup     Debian 12 with rustup, which has an old stable and a nightly alone; libclang-cpp is
#              there and libclang is not; the packages rustc-web and so on cannot be installed
#
# Without a MACHINE, all three. --first runs the first command only. Needs root and debootstrap.
# Prints what the commands print, without the lines of installers, of cargo's progress and of single
# tests, and how long they took. Ends with 1 if a command fails or leaves nothing to show.
set -euo pipefail
cd "$(dirname "$0")/.."

README=README.md
OLD_STABLE=1.90.0
MIRROR=http://deb.debian.org
RUSTUP_INIT=https://static.rust-lang.org/rustup/dist/x86_64-unknown-linux-gnu/rustup-init

main() {
    local first_only='' machine
    if [ "${1:-}" = --first ]; then
        first_only=yes
        shift
    fi
    for machine; do
        case "$machine" in
        debian12 | debian13 | rustup) ;;
        *) fail "no machine is called $machine: debian12, debian13, rustup" ;;
        esac
    done
    [ $# -gt 0 ] || set -- debian12 debian13 rustup
    [ "$(id -u)" -eq 0 ] || fail "needs root: a root file system of its own is made and entered"
    command -v debootstrap >/dev/null || fail "needs debootstrap (apt-get install debootstrap)"
    git diff --quiet HEAD || echo "note: uncommitted changes are not in the clone"
    mapfile -t commands < <(awk '/^```sh$/ { inside = 1; next } /^```$/ && inside { exit } inside' "$README")
    [ ${#commands[@]} -eq 2 ] || fail "$README begins with ${#commands[@]} commands, not 2"
    if [ -n "$first_only" ]; then
        commands=("${commands[0]}")
    fi

    work=$(mktemp -d)
    trap clean_up EXIT
    failed=0
    for machine; do
        root=$work/$machine
        echo "== $machine, commit $(git rev-parse --short HEAD), $(date -u +%F), $(nproc) cores"
        make "$machine"
        try_commands
        forget_root
    done
    exit $failed
}

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
    debootstrap --variant=minbase "$release" "$root" "$MIRROR/debian" >"$work/log" 2>&1 ||
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
    if [ "$1" = rustup ]; then
        inside install_old_rustup >"$work/log" 2>&1 ||
            { tail -n 20 "$work/log"; fail "rustup could not be installed"; }
        inside rustup toolchain list
    fi
}

# Runs in the root.
install_old_rustup() {
    set -e
    printf 'Package: rustc-web cargo-web rust-web-* rustfmt-web\nPin: release *\nPin-Priority: -1\n' \
        >/etc/apt/preferences.d/no-rustc-web
    apt-get update -q
    apt-get install -qy --no-install-recommends ca-certificates curl libclang-cpp14
    curl -sSf -o /tmp/rustup-init "$RUSTUP_INIT"
    chmod +x /tmp/rustup-init
    /tmp/rustup-init -y --quiet --profile minimal --default-toolchain "$OLD_STABLE"
    rustup toolchain install nightly --profile minimal
    rustup default "$OLD_STABLE"
}

# inside COMMAND...: a command, or a function of this script, in the root's clone with an environment
# of the root's own.
inside() {
    local network
    mapfile -t network < <(env | grep -iE '^([a-z_]*proxy|[A-Z_]*(CERT|CERT_FILE|CA_BUNDLE|CAINFO))=' || true)
    chroot "$root" env -i "${network[@]}" HOME=/root LANG=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive \
        PATH=/root/.cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        RUSTUP_INIT=$RUSTUP_INIT OLD_STABLE=$OLD_STABLE \
        bash -c "$(declare -f install_old_rustup)"'; cd /root/ridgepoint && eval "$*"' - "$@"
}

try_commands() {
    local command status before
    for command in "${commands[@]}"; do
        echo "\$ $command"
        before=$SECONDS
        status=0
        inside "$command" >"$work/log" 2>&1 || status=$?
        grep -E "$SHOWN" "$work/log" || true
        test_totals
        [ $status -eq 0 ] || tail -n 40 "$work/log"
        echo "rc $status after $(((SECONDS - before) / 60)) min $(((SECONDS - before) % 60)) s"
        if [ $status -ne 0 ]; then
            failed=1
            return
        fi
    done
    if ! grep -q ^k,ai, "$root/root/ridgepoint/roofline.csv" || ! [ -s "$root/root/ridgepoint/roofline.svg" ]; then
        echo "the first command left no roofline.csv or no roofline.svg"
        failed=1
    fi
}

# What setup.sh and ridgepoint say, and when cargo has finished.
SHOWN='^([A-Z][A-Za-z ]{0,18} +(missing|/|V[0-9]|v[0-9])|    Finished|     Running `|Device:|The emulator|f32 roofs|ridge point|[┌│╞└]|[0-9]+ rows|Chart:|warning: |error)'

# Adds up cargo's "test result" lines. A run of tests that passed none has shown nothing.
test_totals() {
    case "$command" in *"cargo test"*) ;; *) return 0 ;; esac
    awk '/^test result:/ { passed += $4; failed += $6; ignored += $8 }
        END { printf "tests: %d passed, %d failed, %d ignored\n", passed, failed, ignored; exit !passed }' \
        "$work/log" || status=1
}

main "$@"
