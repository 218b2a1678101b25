#!/usr/bin/env bash
# Captures a small demo on all of its interfaces, and has Wireshark look at every packet (tshark_check.py).
#
#   capture.sh BINARY     the UPF; the laboratory, BINARY-lab, lies beside it
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
binary=$1
python=${PYTHON:-python3}

for program in tshark dumpcap iperf3 curl ping; do
    command -v "$program" >/dev/null || { echo "skipped: needs $program: the demo seen by Wireshark; scripts/setup installs it"; exit 0; }
done

out=$(mktemp -d "${TMPDIR:-/tmp}/splitplane-capture-XXXXXX")
# The demo removes its namespaces; this is for one that was killed. They carry its number.
sweep() {
    local side ns pid
    for side in ran upf dn; do
        ns=splitplane-$side-$(cat "$out/pid" 2>/dev/null)
        ip netns list | grep -q "^$ns\b" || continue
        for pid in $(ip netns pids "$ns"); do kill -KILL "$pid"; done
        ip netns delete "$ns"
    done
    rm -rf "$out"
}
trap sweep EXIT
trap 'exit 130' INT TERM HUP

if ! timeout 75 sh -c 'echo $$ >"$2/pid" && exec "$1" demo --capture --sessions 20 --download-mb 5 --out "$2"' demo "$binary-lab" "$out" \
    >"$out/demo.txt" 2>&1; then
    tail -n 40 "$out/demo.txt"
    echo "the demo failed"
    echo "0 passed, 1 failed"
    exit 1
fi
"$python" "$here/tshark_check.py" "$out" 20
