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
#include <sys/ioctl.h>
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
    let compiled =
        std::process::Command::new("gcc").arg("-w").arg("-o").args([&program, &source]).status();
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
