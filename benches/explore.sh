#!/bin/sh
# Compares isolab with PostgreSQL's own isolationtester: all orders of a two-session write skew at SERIALIZABLE, played
# alternately on one throwaway server, medians of 5.
#
# usage: benches/explore.sh ISOLATIONTESTER    (the program of PostgreSQL 18; `isolab` is taken from target/release)
set -eu

tester=${1:?the path of isolationtester}
folder=$(cd "$(dirname "$0")/.." && pwd)
isolab=${ISOLAB:-$folder/target/release/isolab}
work=$(mktemp -d)
trap '"$isolab" server stop >/dev/null 2>&1 || true; rm -rf "$work"' EXIT INT TERM

cat > "$work/write-skew.sql" <<'SQL'
-- @title Write skew
-- Two sessions read both rows, and each writes one.

-- @schema
CREATE TABLE doctors (id int PRIMARY KEY, on_call bool NOT NULL);

-- @setup
INSERT INTO doctors VALUES (1, true), (2, true);

-- @session a
SELECT count(*) FROM doctors WHERE on_call;
SELECT on_call FROM doctors WHERE id = 1;
SELECT 1;
UPDATE doctors SET on_call = false WHERE id = 1;

-- @session b
SELECT count(*) FROM doctors WHERE on_call;
SELECT on_call FROM doctors WHERE id = 2;
SELECT 2;
UPDATE doctors SET on_call = false WHERE id = 2;
SQL

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

"$isolab" server start >/dev/null
url=$("$isolab" server url)
# One run of all 252 orders.
seconds() { start=$(date +%s%N); "$@" >/dev/null 2>&1 || true; end=$(date +%s%N); echo $(((end - start) / 1000)); }
median() { sort -n | sed -n 3p; }
for _ in 1 2 3 4 5; do
  seconds "$tester" "$url" < "$work/write-skew.spec" >> "$work/tester"
  for runners in 1 2; do
    seconds "$isolab" explore "$work/write-skew.sql" --isolation serializable --no-reduce --runners $runners >> "$work/isolab-$runners"
  done
done
for name in tester isolab-1 isolab-2; do
  echo "$name: $(median < "$work/$name") microseconds for 252 orders"
done
