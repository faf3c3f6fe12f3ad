#!/bin/sh
# Runs largest.sh on examples; ends with 1 if one of them fails.
failed=0

check() {
    wanted=$1
    shift
    got=$(sh largest.sh "$@")
    if [ "$got" = "$wanted" ]; then
        echo "ok: the largest of $* is $wanted"
    else
        echo "FAILED: the largest of $* is $wanted, not $got"
        failed=1
    fi
}

check 7 3 7 5
check 4 4
check -3 -9 -3 -7
exit $failed
