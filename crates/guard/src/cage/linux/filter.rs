//! The system call filters of a cage: doors behind which neither Landlock nor the mounts look.

mod index;

use std::collections::BTreeMap;
use std::io;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use self::index::{Answer, Index};
use super::system;
use crate::cage::{CageError, Network, Stage};

/// A compiled filter.
pub(super) struct Filter(BpfProgram);

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Built<T> = Result<T, seccompiler::BackendError>;

/// The kernel's `struct sock_fprog`.
#[repr(C)]
struct Program {
    length: libc::c_ushort,
    filter: *const sock_filter,
}

/// Calls that look into other processes, reach the kernel's inner parts, or take the cage apart.
const NEVER: &[c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Calls that programs do without when the kernel does not know them. `clone3` hides its flags in memory,
/// where a filter cannot look, and the C library falls back to `clone`; what `io_uring` does passes no filter.
const UNKNOWN: &[c_long] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// Calls that reach shared memory, queues and semaphores of other programs by number or name. Only refused
/// without an IPC namespace: in one of their own, processes find nothing of others.
const SHARED_MEMORY: &[c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Calls that change how another process is scheduled or where its memory lies, with the argument that names
/// the process. The number 0 stands for the caller itself.
const SCHEDULING: &[(c_long, u8)] = &[
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_migrate_pages, 0),
    (libc::SYS_move_pages, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
];

/// Calls of [`SCHEDULING`] whose first argument may name all processes of a user, and the number that does.
const WHOLE_USER: &[(c_long, u64)] = &[(libc::SYS_setpriority, 2), (libc::SYS_ioprio_set, 3)];

/// What reaches other programs by a socket.
const CONNECTING: &[c_long] =
    &[libc::SYS_connect, libc::SYS_bind, libc::SYS_listen, libc::SYS_accept, libc::SYS_accept4];

const NEW_NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
    // CLONE_NEWTIME, which shares its bit with the exit signal of `clone`, so only `unshare` knows it.
];
const CLONE_NEWTIME: libc::c_int = 0x80;

/// `ioctl` requests that type into a terminal, or paste into one.
const TYPING: &[u64] = &[0x5412, 0x541c];

/// The part of a socket's type that is the type; the rest are flags.
const TYPE_MASK: u64 = 0xf;
/// All types from here on are refused: no family has one.
const UNUSED_TYPES: u64 = 0x8;

/// Sockets of one family that may be made.
struct AllowedSockets {
    family: libc::c_int,
    types: &'static [libc::c_int],
    /// The only protocol, where not every one is harmless.
    protocol: Option<u64>,
}

/// Sockets for pairs. No other type of this family: each of them sends without a connection.
const LOCAL: AllowedSockets = AllowedSockets {
    family: libc::AF_UNIX,
    types: &[libc::SOCK_STREAM, libc::SOCK_SEQPACKET],
    protocol: None,
};

const INTERNET: &[libc::c_int] = &[libc::SOCK_STREAM, libc::SOCK_DGRAM];

/// Sockets with the network on. Netlink tells of interfaces and routes (protocol 0); its other protocols reach
/// the kernel's inner parts, or other programs.
const WITH_NETWORK: &[AllowedSockets] = &[
    LOCAL,
    AllowedSockets { family: libc::AF_INET, types: INTERNET, protocol: None },
    AllowedSockets { family: libc::AF_INET6, types: INTERNET, protocol: None },
    AllowedSockets {
        family: libc::AF_NETLINK,
        types: &[libc::SOCK_RAW, libc::SOCK_DGRAM],
        protocol: Some(0),
    },
];

/// Whether processes outside the sandbox can be named from inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    /// A process and an IPC namespace hide them.
    Hidden,
    /// Nothing does, so the filter refuses what reaches them.
    Visible,
}

impl Filter {
    /// The filter of a cage. One program, not three: the kernel compiles each for every child.
    pub(super) fn new(network: Network, others: Others) -> Result<Self, CageError> {
        let failed = |why: String| CageError::Part { part: Stage::Filter, why };
        let weighed = weighed(network, others).map_err(|error| failed(error.to_string()))?;
        let index = Index::new(answers(network, others, &weighed));
        let mut program = index
            .program()
            .ok_or_else(|| failed(format!("no filter for {}", std::env::consts::ARCH)))?;
        program.extend(compile(weighed).map_err(|error| failed(error.to_string()))?);
        Ok(Self(program))
    }

    /// Puts the filter in force. Runs in the child: system calls only.
    #[expect(
        unsafe_code,
        reason = "a raw system call: the only thing allowed between fork and exec"
    )]
    pub(super) fn apply(&self) -> io::Result<()> {
        let length =
            libc::c_ushort::try_from(self.0.len()).map_err(|_| io::ErrorKind::InvalidData)?;
        let program = Program { length, filter: self.0.as_ptr() };
        // SAFETY: the program points to `length` instructions that outlive the call.
        system::check(unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program)
        })
    }
}

fn compile(rules: Rules) -> Built<BpfProgram> {
    let action = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    SeccompFilter::new(rules, SeccompAction::Allow, action, architecture()?)?.try_into()
}

/// Ours. The filter kills whoever calls as a program of another.
fn architecture() -> Built<TargetArch> {
    TargetArch::try_from(std::env::consts::ARCH)
}

/// What becomes of the calls that are not simply let through.
fn answers(network: Network, others: Others, weighed: &Rules) -> Vec<(u32, Answer)> {
    let connecting = if network == Network::Off { CONNECTING } else { &[] };
    let refused = NEVER.iter().chain(connecting).map(|call| (*call, Answer::Refused));
    let shared = if others == Others::Visible { SHARED_MEMORY } else { &[] };
    let unknown = UNKNOWN.iter().chain(shared).map(|call| (*call, Answer::Unknown));
    let weighed = weighed.keys().map(|call| (*call, Answer::Weighed));
    let answers = refused.chain(unknown).chain(weighed);
    answers.filter_map(|(call, answer)| Some((u32::try_from(call).ok()?, answer))).collect()
}

/// Calls that are refused or not by their arguments.
fn weighed(network: Network, others: Others) -> Built<Rules> {
    let mut rules = Rules::new();
    let mut spaces = NEW_NAMESPACES.iter().map(|flag| has(*flag)).collect::<Built<Vec<_>>>()?;
    rules.insert(libc::SYS_clone, spaces.clone());
    spaces.push(has(CLONE_NEWTIME)?);
    rules.insert(libc::SYS_unshare, spaces);
    let typing = TYPING.iter().map(|request| rule(&[when(1, SeccompCmpOp::Eq, *request)?]));
    rules.insert(libc::SYS_ioctl, typing.collect::<Built<_>>()?);
    // Limits of other processes; our own are asked for by the number 0.
    let limits = rule(&[
        when(0, SeccompCmpOp::Ne, 0)?,
        SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?,
    ])?;
    rules.insert(libc::SYS_prlimit64, vec![limits]);
    if others == Others::Visible {
        for (call, argument) in SCHEDULING {
            let other = rule(&[when(*argument, SeccompCmpOp::Ne, 0)?])?;
            rules.entry(*call).or_default().push(other);
        }
        for (call, number) in WHOLE_USER {
            let user = rule(&[when(0, SeccompCmpOp::Eq, *number)?])?;
            rules.entry(*call).or_default().push(user);
        }
    }
    let allowed = match network {
        Network::Off => &[LOCAL],
        Network::On => WITH_NETWORK,
    };
    rules.insert(libc::SYS_socket, refused_sockets(allowed)?);
    rules.insert(libc::SYS_socketpair, refused_sockets(&[LOCAL])?);
    Ok(rules)
}

/// The rules that refuse every socket that is not on the list.
fn refused_sockets(allowed: &[AllowedSockets]) -> Built<Vec<SeccompRule>> {
    let number = |number: libc::c_int| u64::from(number.cast_unsigned());
    let is_type = |value: u64| when(1, SeccompCmpOp::MaskedEq(TYPE_MASK), value);
    let families = allowed.iter().map(|it| when(0, SeccompCmpOp::Ne, number(it.family)));
    let unused = when(1, SeccompCmpOp::MaskedEq(UNUSED_TYPES), UNUSED_TYPES)?;
    let mut rules = vec![rule(&families.collect::<Built<Vec<_>>>()?)?, rule(&[unused])?];
    for value in 0..UNUSED_TYPES {
        let (with, without): (Vec<_>, Vec<_>) =
            allowed.iter().partition(|it| it.types.iter().any(|kind| number(*kind) == value));
        if with.is_empty() {
            rules.push(rule(&[is_type(value)?])?);
            continue;
        }
        for it in without {
            let family = when(0, SeccompCmpOp::Eq, number(it.family))?;
            rules.push(rule(&[family, is_type(value)?])?);
        }
    }
    for it in allowed {
        if let Some(protocol) = it.protocol {
            let family = when(0, SeccompCmpOp::Eq, number(it.family))?;
            rules.push(rule(&[family, when(2, SeccompCmpOp::Ne, protocol)?])?);
        }
    }
    Ok(rules)
}

fn has(flag: libc::c_int) -> Built<SeccompRule> {
    let flag = u64::from(flag.cast_unsigned());
    rule(&[when(0, SeccompCmpOp::MaskedEq(flag), flag)?])
}

fn rule(conditions: &[SeccompCondition]) -> Built<SeccompRule> {
    SeccompRule::new(conditions.to_vec())
}

/// The kernel looks at the lower half of such arguments only, so must we.
fn when(argument: u8, operator: SeccompCmpOp, value: u64) -> Built<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

#[cfg(test)]
mod tests;
