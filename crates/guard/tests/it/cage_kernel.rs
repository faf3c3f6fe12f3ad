//! Ways out of the cage that need a program: system calls no shell makes.

use std::path::PathBuf;
use std::sync::OnceLock;

use guard::Reach;
use guard::process::Terminals;

use crate::cage_den::{Den, finish, kinds, walled};

/// Each attempt exits 0 if it got through, 1 if it was refused.
const ATTACKS: &str = r#"
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mqueue.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static long number(const char *text) { return strtol(text, 0, 10); }

int main(int argc, char **argv) {
    const char *what = argv[1];
    long result = -1;
    if (!strcmp(what, "nothing")) result = 0;
    if (!strcmp(what, "io_uring")) {
        char parameters[256] = {0};
        result = syscall(425, 4, parameters);
    }
    if (!strcmp(what, "userns")) result = unshare(CLONE_NEWUSER);
    if (!strcmp(what, "clone")) {
        result = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
        if (result == 0) _exit(0);
    }
    if (!strcmp(what, "clone3")) {
        unsigned long long arguments[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
        result = syscall(435, arguments, 64);
        if (result == 0) _exit(0);
    }
    if (!strcmp(what, "ptrace")) result = ptrace(PTRACE_ATTACH, number(argv[2]), 0, 0);
    if (!strcmp(what, "ptrace-sibling")) {
        pid_t child = fork();
        if (child == 0) { pause(); _exit(0); }
        result = ptrace(PTRACE_ATTACH, child, 0, 0);
        kill(child, SIGKILL);
    }
    if (!strcmp(what, "read-memory")) {
        char byte;
        struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};
        result = process_vm_readv(number(argv[2]), &here, 1, &there, 1, 0) == -1 && errno == EPERM ? -1 : 0;
    }
    if (!strcmp(what, "steal-descriptor")) {
        int process = syscall(434, number(argv[2]), 0);
        result = syscall(438, process, 1, 0);
    }
    if (!strcmp(what, "type")) result = ioctl(0, TIOCSTI, "x");
    if (!strcmp(what, "type-high-bits")) result = syscall(SYS_ioctl, 0, 0xffffffff00000000UL | TIOCSTI, "x");
    if (!strcmp(what, "paste")) { char code = 3; result = ioctl(0, TIOCLINUX, &code) == -1 && errno == EPERM ? -1 : 0; }
    if (!strcmp(what, "keyring")) result = syscall(SYS_add_key, "user", "x", "y", 1, -3);
    if (!strcmp(what, "bpf")) { char attributes[128] = {0}; result = syscall(SYS_bpf, 0, attributes, 128) == -1 && errno == EPERM ? -1 : 0; }
    if (!strcmp(what, "handle")) result = syscall(SYS_open_by_handle_at, AT_FDCWD, argv, O_RDONLY) == -1 && errno == EPERM ? -1 : 0;
    if (!strcmp(what, "userfault")) result = syscall(SYS_userfaultfd, 1);
    if (!strcmp(what, "x32")) {
        result = syscall(0x40000000 | SYS_getpid) == -1 ? -1 : 0;
    }
    if (!strcmp(what, "i386")) {
        // getpid by the door of 32-bit programs.
        pid_t child = fork();
        if (child == 0) {
            long answer;
            __asm__ volatile("int $0x80" : "=a"(answer) : "a"(20) : "memory");
            _exit(answer > 0 ? 0 : 1);
        }
        int status;
        waitpid(child, &status, 0);
        result = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
    }
    if (!strcmp(what, "tcp") || !strcmp(what, "udp")) {
        int type = what[0] == 't' ? SOCK_STREAM : SOCK_DGRAM;
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(number(argv[2]))};
        inet_aton("127.0.0.1", &to.sin_addr);
        int socket_ = socket(AF_INET, type, 0);
        result = connect(socket_, (void *)&to, sizeof to);
        if (result == 0) result = write(socket_, "x", 1) == 1 ? 0 : -1;
    }
    if (!strcmp(what, "udp-sendto")) {
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(number(argv[2]))};
        inet_aton("127.0.0.1", &to.sin_addr);
        result = sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (void *)&to, sizeof to);
    }
    if (!strcmp(what, "ipv6")) result = socket(AF_INET6, SOCK_STREAM, 0);
    if (!strcmp(what, "raw")) result = socket(AF_INET, SOCK_RAW, 1);
    if (!strcmp(what, "packet")) result = socket(AF_PACKET, SOCK_RAW, 0);
    if (!strcmp(what, "vsock")) result = socket(40, SOCK_STREAM, 0);
    if (!strcmp(what, "netlink")) result = socket(AF_NETLINK, SOCK_RAW, 0);
    if (!strcmp(what, "unix") || !strcmp(what, "unix-datagram") || !strcmp(what, "abstract")) {
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        socklen_t size = sizeof to;
        if (what[0] == 'a') {
            strcpy(to.sun_path + 1, argv[2]);
            size = sizeof to.sun_family + 1 + strlen(argv[2]);
        } else strcpy(to.sun_path, argv[2]);
        if (!strcmp(what, "unix-datagram")) {
            int pair[2];
            socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
            struct iovec part = {"x", 1};
            struct msghdr message = {&to, size, &part, 1};
            result = sendmsg(pair[0], &message, 0);
        } else result = connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&to, size);
    }
    if (!strncmp(what, "datagram-", 9)) {
        /* A message with a descriptor to a path, from each type of socket that needs no connection. */
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        strcpy(to.sun_path, argv[2]);
        int type = what[9] == 'r' ? SOCK_RAW : what[9] == 'p' ? SOCK_PACKET : what[9] == 's' ? SOCK_RDM : SOCK_DGRAM;
        int pair[2] = {-1, -1};
        if (strstr(what, "-pair")) socketpair(AF_UNIX, type, 0, pair); else pair[0] = socket(AF_UNIX, type, 0);
        char control[CMSG_SPACE(sizeof(int))] = {0};
        struct iovec part = {"x", 1};
        struct msghdr message = {&to, sizeof to, &part, 1, control, sizeof control};
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET; head->cmsg_type = SCM_RIGHTS; head->cmsg_len = CMSG_LEN(sizeof(int));
        int file = 0;
        memcpy(CMSG_DATA(head), &file, sizeof file);
        result = sendmsg(pair[0], &message, 0);
        if (result == -1) result = sendto(pair[0], "x", 1, 0, (void *)&to, sizeof to);
    }
    if (!strcmp(what, "socket")) result = socket(number(argv[2]), number(argv[3]), number(argv[4]));
    if (!strcmp(what, "socketpair")) { int pair[2]; result = socketpair(number(argv[2]), number(argv[3]), 0, pair); }
    if (!strcmp(what, "shm")) {
        int id = shmget(number(argv[2]), 0, 0);
        result = id == -1 ? -1 : (shmat(id, 0, 0) == (void *)-1 ? -1 : 0);
    }
    if (!strcmp(what, "shm-id")) result = shmat(number(argv[2]), 0, 0) == (void *)-1 ? -1 : 0;
    if (!strcmp(what, "msg")) result = msgget(number(argv[2]), 0);
    if (!strcmp(what, "sem")) result = semget(number(argv[2]), 1, 0);
    if (!strcmp(what, "mq")) result = mq_open(argv[2], O_WRONLY);
    if (!strcmp(what, "priority")) result = setpriority(PRIO_PROCESS, number(argv[2]), 19);
    if (!strcmp(what, "priority-group")) result = setpriority(PRIO_PGRP, number(argv[2]), 19);
    if (!strcmp(what, "affinity")) {
        cpu_set_t set;
        CPU_ZERO(&set); CPU_SET(0, &set);
        result = sched_setaffinity(number(argv[2]), sizeof set, &set);
    }
    if (!strcmp(what, "scheduler")) { struct sched_param none = {0}; result = sched_setscheduler(number(argv[2]), 3, &none); }
    if (!strcmp(what, "io-priority")) result = syscall(SYS_ioprio_set, 1, number(argv[2]), 3 << 13);
    if (!strcmp(what, "priority-self")) result = setpriority(PRIO_PROCESS, 0, 5);
    if (!strcmp(what, "listen")) {
        struct sockaddr_in at = {.sin_family = AF_INET};
        int socket_ = socket(AF_INET, SOCK_STREAM, 0);
        result = bind(socket_, (void *)&at, sizeof at) || listen(socket_, 1) ? -1 : 0;
    }
    if (!strcmp(what, "pair")) { int pair[2]; result = socketpair(AF_UNIX, SOCK_STREAM, 0, pair); }
    printf("%s: %s\n", what, result == -1 ? strerror(errno) : "got through");
    return result == -1 ? 1 : 0;
}
"#;

/// The program of all attempts; none without a compiler.
fn attacks() -> Option<&'static PathBuf> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(build).as_ref()
}

#[expect(clippy::disallowed_methods, reason = "a compiler, outside of everything under test")]
fn build() -> Option<PathBuf> {
    let folder = crate::place::lasting();
    let id = std::process::id();
    let (source, program) = (folder.join(format!("{id}.c")), folder.join(format!("attacks-{id}")));
    std::fs::write(&source, ATTACKS).unwrap();
    let compiled = std::process::Command::new("gcc")
        .arg("-w")
        .arg("-o")
        .args([&program, &source])
        .arg("-lrt")
        .status();
    std::fs::remove_file(&source).unwrap();
    match compiled {
        Ok(status) if status.success() => {
            // One name for all runs, so that none leaves its own behind.
            let built = folder.join("attacks");
            std::fs::rename(&program, &built).unwrap();
            Some(built)
        }
        Ok(status) => panic!("gcc: {status}"),
        Err(error) => {
            testkit::parts::skipped(&format!("no C compiler: {error}"));
            None
        }
    }
}

async fn assert_refused(den: &Den, attempts: &[String]) {
    let Some(program) = attacks() else { return };
    den.run(&format!("{} nothing", program.display())).await.ok();
    for attempt in attempts {
        let ran = den.run(&format!("{} {attempt}", program.display())).await;
        let kind = den.kind;
        assert_eq!(ran.status.code(), Some(1), "{kind:?} {:?} {attempt}: {ran:?}", den.reach);
    }
}

#[tokio::test]
async fn calls_around_the_cage_are_refused() {
    let plain = [
        "io_uring",
        "userns",
        "clone",
        "clone3",
        "ptrace-sibling",
        "keyring",
        "bpf",
        "handle",
        "userfault",
        "x32",
        "i386",
    ];
    let ours = std::process::id();
    let mut attempts: Vec<String> = plain.iter().map(|it| (*it).to_owned()).collect();
    attempts.extend(["ptrace", "read-memory", "steal-descriptor"].map(|it| format!("{it} {ours}")));
    for kind in kinds() {
        for reach in [Reach::ReadOnly, Reach::Workspace, Reach::Network] {
            assert_refused(&Den { reach, ..Den::of(kind) }, &attempts).await;
        }
    }
}

#[tokio::test]
async fn nothing_is_typed_into_a_terminal() {
    let Some(program) = attacks() else { return };
    for kind in kinds() {
        for attempt in ["type", "type-high-bits", "paste"] {
            let den = Den::of(kind);
            let mut command = den.command(&format!("{} {attempt}", program.display()));
            command.stdio = Terminals::Pty { columns: 80, rows: 24 };
            let ran = finish(command).await;
            assert_eq!(ran.status.code(), Some(1), "{kind:?} {attempt}: {ran:?}");
        }
    }
}

#[tokio::test]
async fn there_is_no_network() {
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    let (tcp, port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    let mut attempts =
        vec![format!("tcp {tcp}"), format!("udp {port}"), format!("udp-sendto {port}")];
    attempts.extend(["ipv6", "raw", "packet", "vsock", "netlink", "listen"].map(str::to_owned));
    for kind in kinds() {
        let den = Den::of(kind);
        assert_refused(&den, &attempts).await;
        let Some(program) = attacks() else { return };
        den.run(&format!("{} pair", program.display())).await.ok();
    }
    assert!(udp.recv(&mut [0]).is_err());
}

#[tokio::test]
async fn sockets_of_other_programs_cannot_be_reached() {
    use std::os::linux::net::SocketAddrExt;
    let den = Den::new();
    let place = den.path("outside.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&place).unwrap();
    let datagram = den.path("datagram.sock");
    let _receiver = std::os::unix::net::UnixDatagram::bind(&datagram).unwrap();
    let name = format!("caiman-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let _abstract = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
    let attempts = [
        format!("unix {}", place.display()),
        format!("unix-datagram {}", datagram.display()),
        format!("abstract {name}"),
    ];
    for kind in kinds() {
        assert_refused(&Den { kind: Some(kind), ..Den::new() }, &attempts).await;
        let network = Den { kind: Some(kind), ..Den::reaching(Reach::Network) };
        assert_refused(&network, &[format!("abstract {name}")]).await;
    }
}

#[tokio::test]
async fn no_datagram_leaves_by_any_type_of_socket() {
    for kind in kinds() {
        for reach in [Reach::ReadOnly, Reach::Workspace, Reach::Network] {
            let den = Den { kind: Some(kind), ..Den::reaching(reach) };
            let place = den.path("work/src/datagram");
            let receiver = std::os::unix::net::UnixDatagram::bind(&place).unwrap();
            receiver.set_nonblocking(true).unwrap();
            let kinds = ["d", "r", "s", "p", "d-pair", "r-pair", "s-pair", "p-pair"];
            let attempts = kinds.map(|it| format!("datagram-{it} {}", place.display()));
            assert_refused(&den, &attempts).await;
            assert!(receiver.recv(&mut [0]).is_err(), "{kind:?} {reach:?}");
        }
    }
}

#[tokio::test]
async fn only_sockets_that_programs_need_can_be_made() {
    let Some(program) = attacks() else { return };
    // AF_UNIX raw, AF_NETLINK audit and user sockets, AF_PACKET, AF_TIPC, AF_ALG, AF_VSOCK.
    let refused = ["1 3 0", "16 3 9", "16 3 2", "17 3 0", "30 4 0", "38 5 0", "40 1 0", "2 3 1"];
    for kind in kinds() {
        let den = Den { kind: Some(kind), ..Den::reaching(Reach::Network) };
        assert_refused(&den, &refused.map(|it| format!("socket {it}"))).await;
        let pairs = ["1 2", "1 3", "30 1", "30 5"].map(|it| format!("socketpair {it}"));
        assert_refused(&den, &pairs).await;
        for allowed in ["1 1 0", "1 5 0", "2 1 0", "2 2 0", "10 1 0", "10 2 0", "16 3 0"] {
            den.run(&format!("{} socket {allowed}", program.display())).await.ok();
        }
    }
}

/// Shared memory, a queue and a semaphore of the test, gone with it.
struct Foreign {
    memory: i32,
    queue: i32,
    semaphore: i32,
}

#[expect(unsafe_code, reason = "there is no safe call for System V objects")]
impl Foreign {
    fn make(key: i32) -> Self {
        // SAFETY: plain numbers.
        unsafe {
            Self {
                memory: libc::shmget(key, 4096, libc::IPC_CREAT | 0o666),
                queue: libc::msgget(key, libc::IPC_CREAT | 0o666),
                semaphore: libc::semget(key, 1, libc::IPC_CREAT | 0o666),
            }
        }
    }
}

#[expect(unsafe_code, reason = "there is no safe call for System V objects")]
impl Drop for Foreign {
    fn drop(&mut self) {
        // SAFETY: plain numbers; nothing is read or written.
        unsafe {
            libc::shmctl(self.memory, libc::IPC_RMID, std::ptr::null_mut());
            libc::msgctl(self.queue, libc::IPC_RMID, std::ptr::null_mut());
            libc::semctl(self.semaphore, 0, libc::IPC_RMID);
        }
    }
}

#[tokio::test]
async fn shared_memory_of_other_programs_cannot_be_reached() {
    let key = i32::try_from(std::process::id()).unwrap();
    let foreign = Foreign::make(key);
    assert!(foreign.memory >= 0 && foreign.queue >= 0 && foreign.semaphore >= 0);
    let name = format!("/dev/shm/caiman-test-{key}");
    std::fs::write(&name, "# original").unwrap();
    let attempts = [
        format!("shm {key}"),
        format!("shm-id {}", foreign.memory),
        format!("msg {key}"),
        format!("sem {key}"),
    ];
    for kind in kinds() {
        let den = Den::of(kind);
        assert_refused(&den, &attempts).await;
        for attempt in ["cat NAME", "echo x >> NAME"] {
            let ran = den.run(&attempt.replace("NAME", &name)).await;
            assert!(!ran.text.contains("original"), "{kind:?} {attempt}: {ran:?}");
        }
        let made = format!("/dev/shm/caiman-inside-{key}");
        den.run(&format!("echo x > {made}")).await;
        assert!(!std::path::Path::new(&made).exists(), "{kind:?}");
    }
    assert_eq!(std::fs::read_to_string(&name).unwrap(), "# original");
    std::fs::remove_file(&name).unwrap();
}

#[tokio::test]
async fn other_programs_keep_their_priority() {
    let Some(program) = attacks() else { return };
    let ours = std::process::id();
    let changes = ["priority", "priority-group", "affinity", "scheduler", "io-priority"];
    for kind in kinds() {
        let den = Den::of(kind);
        assert_refused(&den, &changes.map(|it| format!("{it} {ours}"))).await;
        den.run(&format!("{} priority-self", program.display())).await.ok();
    }
}

#[tokio::test]
async fn doors_of_uncaged_programs_are_hidden_from_the_network_too() {
    let folder = tempfile::Builder::new().prefix("ssh-").tempdir_in("/tmp").unwrap();
    let place = folder.path().join("agent.1");
    let _listener = std::os::unix::net::UnixListener::bind(&place).unwrap();
    for kind in walled() {
        let den = Den { kind: Some(kind), ..Den::reaching(Reach::Network) };
        assert_refused(&den, &[format!("unix {}", place.display())]).await;
    }
}

#[tokio::test]
async fn devices_other_than_its_own_terminal_stay_shut() {
    let Some(_) = attacks() else { return };
    let den = Den::new();
    let mut other = den.command("sleep 60");
    other.cage = None;
    other.stdio = Terminals::Pty { columns: 80, rows: 24 };
    let other = other.spawn().unwrap();
    let link = format!("/proc/{}/fd/0", other.group());
    let terminal = std::fs::read_link(link).unwrap();
    for attempt in ["echo x > T", "timeout 1 head -c 1 < T", "stty -F T -echo"] {
        let attempt = attempt.replace('T', &terminal.display().to_string());
        den.run(&attempt).await.failed();
    }
}
