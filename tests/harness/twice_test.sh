#!/usr/bin/env bash
# twice_test.sh TWICE: what runs the suites gives a failed test a second chance, and only that.
set -uo pipefail
twice=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

# suite FIRST-CODE SECOND-CODE: a program that says what GoogleTest says of two failed tests, with brief output
suite() {
  cat >"$place/suite" <<SUITE
#!/usr/bin/env bash
if [ "\$#" -gt 0 ]; then echo "again \$*" >>"$place/again"; exit $2; fi
echo '[  FAILED  ] As/A.B/root, where GetParam() = 4-byte object <00-00 00-00> (1059 ms)'
echo '[  FAILED  ] C.D (3 ms)'
exit $1
SUITE
  chmod +x "$place/suite"
  : >"$place/again"
}

# expect CODE RUNS: how twice ends, and what the second run was given
expect() {
  "$twice" "$place/suite" >/dev/null
  local code=$?
  if [ "$code" != "$1" ] || [ "$(cat "$place/again")" != "$2" ]; then
    echo "ended with $code, not $1; run again: '$(cat "$place/again")', not '$2'"
    exit 1
  fi
}

suite 1 0 && expect 0 'again --gtest_filter=As/A.B/root:C.D'
suite 1 1 && expect 1 'again --gtest_filter=As/A.B/root:C.D'
suite 139 0 && expect 139 ''
suite 0 1 && expect 0 ''
