#!/usr/bin/env bash
# The lines of docs/multiple-gpus.md under a real Slurm, and what Slurm does to ranks:
#
#   scripts/gpu/slurm-run.sh results
#
# The Slurm is one of this machine alone (slurm.sh). Ranks have its GPUs, of which there must be two, or emulated devices where
# it has none. ridgepoint is the one beside this script, or in PATH. Ends with 1 if anything is not as expected.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$here:$PATH
# Starts itself again, in a Slurm.
if [ "${1:-}" != --inside ]; then
    if [ $# -ne 1 ] || { [ -e "$1" ] && [ -n "$(ls -A "$1")" ]; }; then
        echo "usage: slurm-run.sh NEW-OR-EMPTY-FOLDER" >&2
        exit 2
    fi
    mkdir -p "$1"
    exec "$here/slurm.sh" "$here/slurm-run.sh" --inside "$@"
fi

# What all ranks run. One device is measured beside them.
ALONE=(ridgepoint power --devices all)
POWER=("${ALONE[@]}" --rendezvous meet)
# Does not converge.
ENDLESS=("${POWER[@]}" --exchange gather --dominance 0.00001 --check-every 5 --fault-timeout 5 --checkpoint steps)
# Seconds in which ranks begin, and in which they end when one is killed: the time for faults, and some more.
PATIENCE=60
ENDED_WITHIN=10

main() {
    shift
    cd "$1"
    mkdir meet
    checks=0 failed=0
    # gpu:8, gpu:h100:8(S:0-1)
    gpus=$(sinfo --noheader --format=%G | sed -n '1s/^gpu.*:\([0-9]*\)\((.*)\)\?$/\1/p')
    if [ "$gpus" -lt 2 ]; then
        echo "slurm-run.sh: $gpus GPU; two are needed" >&2
        exit 1
    fi
    {
        date -u +'date %FT%TZ'
        srun --version
        ridgepoint --version
        nvidia-smi --query-gpu=index,name,driver_version --format=csv 2>&1 || true
    } >machine.txt
    what_tasks_see >tasks.txt
    as_documented
    several_steps
    without_srun
    in_a_job_of_mpirun
    two_with_one_gpu
    killed
    echo "$checks checks, $failed failed"
    [ "$failed" -eq 0 ]
}

# check WHAT COMMAND...: whether the command succeeds.
check() {
    local what=$1
    shift
    checks=$((checks + 1))
    if "$@"; then
        echo "ok: $what"
    else
        echo "FAILED: $what"
        failed=$((failed + 1))
        find . -name '*.err' -size +0 -exec tail -n 5 {} +
    fi
}

# rows FILE DEVICES EXCHANGE...: whether the file has a checked row of each exchange between so many devices.
rows() {
    local file=$1 devices=$2 exchange
    shift 2
    for exchange; do
        grep -q "^power,$exchange,$devices,measured,strong,.*,true,[0-9]*\$" "$file" || return 1
    done
}

# What Slurm tells two tasks.
what_tasks_see() {
    local options
    for options in --gpus-per-node=2 --gpus-per-task=1 "--gpus-per-node=2 --mpi=pmi2"; do
        echo "srun -n 2 $options"
        # shellcheck disable=SC2016,SC2086  # the task's own variables; several options
        srun -n 2 $options sh -c 'echo "$(env | grep -E "^(SLURM_(JOB_ID|STEP_ID|PROCID|LOCALID|NTASKS|STEP_NUM_TASKS|STEP_GPUS)|CUDA_VISIBLE_DEVICES|PMI_(RANK|SIZE|JOBID))=" |
            sort | tr "\n" " ")"' | sort
    done
}

# logged NAME COMMAND...: what it says goes to NAME.txt and NAME.err.
logged() {
    local name=$1
    shift
    "$@" >"$name.txt" 2>"$name.err"
}

# not_converged NAME COMMAND...: whether it ends with 1 and says so.
not_converged() {
    logged "$@"
    test $? -eq 1 && grep -q '^error: not converged' "$1.err"
}

# ranks NAME OPTIONS...: power by srun with these options, into NAME.csv.
ranks() {
    local name=$1
    shift
    logged "$name" srun "$@" "${POWER[@]}" --output "$name.csv"
}

as_documented() {
    local all=(--ntasks-per-node="$gpus" --gpus-per-node="$gpus")
    check "srun ${all[*]}" ranks all "${all[@]}"
    check "its rows, of all ranks" rows all.csv "$gpus" gather graph
    check "srun -n 2 --gpus-per-task=1: each task sees one GPU" ranks task -n 2 --gpus-per-task=1
    check "its rows" rows task.csv 2 gather graph
    check "srun --mpi=pmi2, which sets PMI's variables, too" ranks pmi2 --mpi=pmi2 -n 2 --gpus-per-node=2
    check "its rows" rows pmi2.csv 2 gather graph
    check "srun -n 1: a process that is told where to meet others takes one GPU" ranks one -n 1 --gpus-per-node=2
    check "its rows" rows one.csv 1 alone gather graph
    check "no file is left where ranks met" test -z "$(ls meet)"
}

# One job, one folder, one after the other and at once.
several_steps() {
    local step
    check "steps of one job" logged steps salloc --quiet -n 2 --gpus-per-node=2 bash -c "
        set -e
        srun ${POWER[*]} --output first.csv
        srun --overlap ${POWER[*]} --output second.csv & srun --overlap ${POWER[*]} --output third.csv
        wait \$!"
    for step in first second third; do
        check "rows of the $step step" rows $step.csv 2 gather graph
    done
}

# The script of a job is not a task: nobody else comes.
without_srun() {
    check "a job's script without srun is refused" is_refused script refused "${POWER[@]}"
    check "without --rendezvous it drives all GPUs" script job "${ALONE[@]}"
    check "its rows" rows job.csv 2 gather graph peer
}

# script NAME COMMAND...: the command in the script of a job, into NAME.csv.
script() {
    local name=$1
    shift
    sbatch --wait --quiet -n 2 --gpus-per-node=2 --output="$name.txt" --error="$name.err" --wrap="$* --output $name.csv"
}

is_refused() {
    local status=0
    "$@" || status=$?
    [ $status -eq 2 ] && grep -q 'no launcher has started this process' "$2.err"
}

in_a_job_of_mpirun() {
    if ! command -v mpirun >/dev/null; then
        echo "not run: mpirun in a job, for there is no mpirun"
        return
    fi
    check "mpirun in a job" logged mpirun env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        salloc --quiet -n 2 --gpus-per-node=2 mpirun "${POWER[@]}" --output mpirun.csv
    check "its rows" rows mpirun.csv 2 gather graph
}

two_with_one_gpu() {
    if grep -q 'CPU emulator' one.csv; then
        echo "not run: two tasks with one GPU, for emulated devices belong to their process"
        return
    fi
    check "srun -n 2 --gpus-per-node=1 is refused" has_no_gpu_for_each
}

has_no_gpu_for_each() {
    ! ranks shared -n 2 --gpus-per-node=1 && [ "$(grep -c 'ranks 0 and 1 have the same GPU' shared.err)" -eq 2 ]
}

# All tasks but one end in time with status 3, name that one, and a run goes on from their checkpoint.
killed() {
    local began=$SECONDS reached
    logged killed srun -n 2 --gpus-per-node=2 \
        bash -c "echo \$\$ >killed-\$SLURM_PROCID.pid; exec ${ENDLESS[*]} --max-steps 10000000" &
    until grep -qs 'step  *[1-9]' killed.txt || [ $((SECONDS - began)) -gt $PATIENCE ]; do sleep 0.1; done
    kill -KILL "$(cat killed-1.pid)"
    began=$SECONDS
    wait $! || true
    check "a killed rank ends the rest within $ENDED_WITHIN s" test $((SECONDS - began)) -le $ENDED_WITHIN
    check "they name it" grep -q '^error: rank 0: rank 1 was lost: ' killed.err
    check "they end with status 3" grep -q 'task 0: Exited with exit code 3' killed.err
    reached=$(newest)
    check "there is a checkpoint" test "$reached" -gt 0
    check "a run goes on" not_converged resumed srun -n 2 --gpus-per-node=2 "${ENDLESS[@]}" --resume --max-steps $((reached + 100)) \
        --output resumed.csv
    check "its row" rows resumed.csv 2 gather
    check "from step $reached" test "$(grep -o 'step *[0-9]*' resumed.txt | head -n 1 | tr -dc 0-9)" -eq "$reached"
    rm -r killed-?.pid steps
}

# The step of the newest checkpoint.
newest() {
    local files=(steps/step-*.txt)
    basename "${files[-1]}" .txt | sed 's/^step-0*//'
}

main "$@"
