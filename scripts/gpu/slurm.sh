#!/usr/bin/env bash
# Runs a command on a Slurm that this machine has for as long as the command takes:
#
#   scripts/gpu/slurm.sh srun --ntasks-per-node=8 --gpus-per-node=8 ridgepoint power --devices all --rendezvous meet
#
# The daemons are those of Debian's packages slurmctld, slurmd, slurm-client and munge, or of the folder slurm beside this
# script, which scripts/gpu/slurm-folder.sh makes. They need no systemd, no cgroups and not to be root, and keep everything in a temporary
# folder. The only node has the machine's GPUs. Where there is none, or CUDA_VISIBLE_DEVICES is empty, it has 8 that Slurm
# gives to tasks and CUDA does not find. It has 64 CPUs, whatever the machine has: tasks share them.
set -euo pipefail
own=$(cd "$(dirname "$0")" && pwd)/slurm
[ -d "$own" ] || own=
PATH=${own:+$own/bin:}$PATH:/usr/sbin:/sbin
# Seconds in which daemons start, and end.
PATIENCE=60

main() {
    local tool
    [ $# -gt 0 ] || fail "no command: slurm.sh COMMAND"
    for tool in munged slurmctld slurmd srun; do
        command -v $tool >/dev/null || fail "no $tool: ./setup.sh --tests brings it"
    done
    folder=$(mktemp -d)
    # Else munge gives its socket to nobody.
    chmod 711 "$folder"
    daemons=() is_up=
    trap stop EXIT
    configure
    export SLURM_CONF=$folder/slurm.conf
    start munged --foreground --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
        --log-file="$folder/munged.log" --seed-file="$folder/munge.seed"
    wait_until "munged listens" test -S "$folder/munge.socket"
    start slurmctld -D
    start slurmd -D ${own:+-d "$own/bin/slurmstepd"}
    wait_until "the node is idle" is_idle
    is_up=yes
    "$@"
}

fail() {
    echo "slurm.sh: $1" >&2
    exit 1
}

configure() {
    local host gpus i prolog=
    host=$(uname -n)
    host=${host%%.*}
    gpus=$(count_gpus)
    if [ "$gpus" -eq 0 ]; then
        gpus=8
        prolog=TaskProlog=$folder/hide-gpus
        printf '#!/bin/sh\necho export CUDA_VISIBLE_DEVICES=\n' >"$folder/hide-gpus"
        chmod +x "$folder/hide-gpus"
    fi
    # Slurm wants a device's file for each.
    for ((i = 0; i < gpus; i++)); do ln -s /dev/null "$folder/gpu$i"; done
    (umask 077 && head -c 64 /dev/urandom >"$folder/munge.key")
    mkdir "$folder/state" "$folder/spool"
    echo "Name=gpu File=$folder/gpu[0-$((gpus - 1))]" >"$folder/gres.conf"
    # 22.05 cannot do without a plugin, and takes this one without looking for cgroups.
    case $(slurmd -V) in
    *" 22."*) echo CgroupPlugin=cgroup/v1 ;;
    *) echo CgroupPlugin=disabled ;;
    esac >"$folder/cgroup.conf"
    cat >"$folder/slurm.conf" <<END
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
GresTypes=gpu
NodeName=$host NodeAddr=127.0.0.1 CPUs=64 Gres=gpu:$gpus
PartitionName=all Nodes=ALL Default=YES
${own:+PluginDir=$own/plugins}
$prolog
END
}

# The GPUs that CUDA finds.
count_gpus() {
    if [ -n "${CUDA_VISIBLE_DEVICES-unset}" ] && command -v nvidia-smi >/dev/null; then
        nvidia-smi --list-gpus | grep -c '^GPU' || true
    else
        echo 0
    fi
}

# A port that nothing listens at, below those that the system gives to clients.
free_port() {
    local port
    while port=$((20000 + RANDOM % 12000)) && (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
    echo $port
}

# start DAEMON ARGUMENTS...
start() {
    # Ctrl-C is for the command: the daemons end when its tasks have.
    setsid "$@" >>"$folder/$1.log" 2>&1 &
    daemons+=($!)
}

is_idle() { [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ]; }

# wait_until WHAT COMMAND...
wait_until() {
    local what=$1 deadline=$((SECONDS + PATIENCE)) daemon
    shift
    until "$@"; do
        for daemon in "${daemons[@]}"; do
            kill -0 "$daemon" 2>/dev/null || deadline=0
        done
        if [ $SECONDS -ge $deadline ]; then
            tail -n 20 "$folder"/*.log >&2
            fail "not within $PATIENCE s: $what"
        fi
        sleep 0.05
    done
}

# Ends what runs, and the daemons in the reverse order.
stop() {
    local i guard failed=
    if [ -n "$is_up" ]; then
        (scancel --user="$(id -un)" && wait_until "all jobs have ended" is_idle) || failed=yes
    fi
    for ((i = ${#daemons[@]} - 1; i >= 0; i--)); do
        kill "${daemons[i]}" 2>/dev/null || true
        (sleep $PATIENCE && kill -KILL "${daemons[i]}") >/dev/null 2>&1 &
        guard=$!
        wait "${daemons[i]}" || true
        kill $guard 2>/dev/null || true
    done
    rm -rf "$folder"
    [ -z "$failed" ] || exit 1
}

main "$@"
