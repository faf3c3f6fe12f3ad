#!/bin/sh
# Prints the largest of its arguments.
largest=0
for number in "$@"; do
    if [ "$number" -gt "$largest" ]; then
        largest=$number
    fi
done
echo "$largest"
