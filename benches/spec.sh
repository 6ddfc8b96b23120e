#!/bin/sh
# Compares `isolab spec` with PostgreSQL's own isolationtester on the same server: a folder of .spec files, and two that wait
# a lot by themselves. Alternately, five times; medians, and how much of the tester's time isolab takes.
#
# usage: benches/spec.sh ISOLATIONTESTER SPECS    (the program and the folder; `isolab` is taken from target/release)
set -eu

tester=${1:?the path of isolationtester}
specs=${2:?the folder with the .spec files}
folder=$(cd "$(dirname "$0")/.." && pwd)
isolab=${ISOLAB:-$folder/target/release/isolab}
rounds=${ROUNDS:-5}
work=$(mktemp -d)
chmod 755 "$work"
# A server of its own, beside whatever else is kept.
export ISOLAB_CACHE="$work/cache"
trap '"$isolab" server stop >/dev/null 2>&1 || true; rm -rf "$work"' EXIT INT TERM

# What PostgreSQL's own test driver sets for the tester.
export PGTZ=America/Los_Angeles PGDATESTYLE='Postgres, MDY' LC_MESSAGES=C
export PGOPTIONS='-c intervalstyle=postgres_verbose'

"$isolab" server start >/dev/null
url=$("$isolab" server url)

# The tester plays all files in one database that is there already; isolab's time includes a new one for each file.
by_tester() { for file in "$@"; do "$tester" "$url" < "$file" >/dev/null 2>&1 || true; done; }
by_isolab_1() { "$isolab" spec --format isolationtester --runners 1 "$@" >/dev/null 2>&1 || true; }
by_isolab_2() { "$isolab" spec --format isolationtester --runners 2 "$@" >/dev/null 2>&1 || true; }
milliseconds() { start=$(date +%s%N); "$@"; end=$(date +%s%N); echo $(((end - start) / 1000000)); }
median() { sort -n "$1" | sed -n "$(((rounds + 1) / 2))p"; }

compare() {
  what=$1
  shift
  rm -f "$work"/by_*
  for _ in $(seq "$rounds"); do
    for program in by_tester by_isolab_1 by_isolab_2; do
      milliseconds "$program" "$@" >> "$work/$program"
    done
  done
  peer=$(median "$work/by_tester")
  for runners in 1 2; do
    ours=$(median "$work/by_isolab_$runners")
    echo "$what: isolationtester $peer ms, isolab --runners $runners $ours ms: $((ours * 100 / peer)) %"
  done
}

compare "all of $specs" "$specs"/*.spec
compare eval-plan-qual "$specs/eval-plan-qual.spec"
compare deadlock-hard "$specs/deadlock-hard.spec"
