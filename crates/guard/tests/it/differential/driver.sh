# Runs each line of $TOP/lines in a bash of its own. A mark in the trace, an open that fails, says which line it is.
ulimit -f 4096 -c 0
export HOME="$TOP/home" GIT_OPTIONAL_LOCKS=0 GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export x='a[$(touch pwn)]' y='$(touch pwn)' z=abc X=-delete Y=-opwn q='; touch pwn' TERM=dumb
index=0
while IFS= read -r -d '' line <&9; do
    { : > "/dev/null/mark-$index"; } 2> /dev/null
    timeout -k 1 2 bash -c "$line" < "$TOP/input" > /dev/null 2>&1 9<&-
    index=$((index + 1))
done 9< "$TOP/lines"
# Processes left in the background get the time to do their harm, and no more.
sleep 0.3
{ : > "/dev/null/mark-$index"; } 2> /dev/null
kill -9 -1
