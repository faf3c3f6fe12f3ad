# Runs driver.sh under strace: no network, own processes, everything but $TOP read-only.
set -eu
if [ "${1-}" != inside ]; then
    user=""
    [ "$(id -u)" = 0 ] || user="--user --map-root-user"
    # shellcheck disable=SC2086
    exec unshare $user --net --mount --pid --fork --kill-child --mount-proc bash "$TOP/setup.sh" inside
fi
mount --make-rprivate /
mount --bind "$TOP" "$TOP"
for place in /tmp /dev/shm; do mount -t tmpfs none "$place"; done
while read -r _ place _; do
    place=$(printf '%b' "$place")
    case $place in
        "$TOP" | /tmp | /proc | /proc/* | /dev | /dev/* | /sys | /sys/*) ;;
        *) mount -o remount,bind,ro "$place" 2> /dev/null || true ;;
    esac
done < /proc/self/mounts
if [ -w /etc ] || [ -w /usr/bin ]; then
    echo "the system is still writable" >&2
    exit 97
fi
cd "$TOP/work"
calls=execve,execveat,open,openat,openat2,creat,truncate,ftruncate,unlink,unlinkat,rename,renameat,renameat2,mkdir
calls=$calls,mkdirat,rmdir,link,linkat,symlink,symlinkat,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,utimensat
calls=$calls,utimes,mknod,mknodat,setxattr,lsetxattr,removexattr,mount,umount2,sethostname,settimeofday
calls=$calls,clock_settime,socket,connect,bind
strace -f --seccomp-bpf -qq -s 200 -e signal=none -e "trace=$calls" -o "$TOP/trace" bash "$TOP/driver.sh" \
    > /dev/null 2> "$TOP/errors" || true
