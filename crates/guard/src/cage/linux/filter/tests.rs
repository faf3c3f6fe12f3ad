//! The filter against a slower one that says the same, number by number and argument by argument.

use proptest::prelude::*;

use super::*;

const OURS: u32 = if cfg!(target_arch = "x86_64") { 0xc000_003e } else { 0xc000_00b7 };
const X32: u32 = 0x4000_0000;

const LEVELS: [(Network, Others); 4] = [
    (Network::Off, Others::Hidden),
    (Network::Off, Others::Visible),
    (Network::On, Others::Hidden),
    (Network::On, Others::Visible),
];

#[derive(Debug, Clone, Copy)]
struct Call {
    kind: u32,
    number: u32,
    arguments: [u64; 6],
}

impl Call {
    fn new(number: u32, arguments: [u64; 6]) -> Self {
        Self { kind: OURS, number, arguments }
    }

    /// The word at a place of the kernel's `struct seccomp_data`.
    fn word(&self, at: u32) -> u32 {
        let mut bytes = [0; 64];
        bytes[0..4].copy_from_slice(&self.number.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.kind.to_le_bytes());
        for (argument, place) in self.arguments.iter().zip(bytes[16..].chunks_mut(8)) {
            place.copy_from_slice(&argument.to_le_bytes());
        }
        let at = at as usize;
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    }
}

/// Runs a program as the kernel does; gives its answer and how many steps that took.
fn run(program: &[sock_filter], call: Call) -> (u32, usize) {
    let (mut at, mut word, mut steps) = (0, 0, 0);
    loop {
        let sock_filter { code, jt, jf, k } = program[at].clone();
        steps += 1;
        at += 1;
        let branch = |holds: bool| usize::from(if holds { jt } else { jf });
        match code {
            0x06 => return (k, steps),
            0x20 => word = call.word(k),
            0x54 => word &= k,
            0x05 => at += k as usize,
            0x15 => at += branch(word == k),
            0x25 => at += branch(word > k),
            0x35 => at += branch(word >= k),
            other => panic!("step {other:#x}"),
        }
    }
}

fn error(code: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | code.cast_unsigned()
}

/// What becomes of a call, one rule after the other.
fn slowly(network: Network, others: Others, call: Call) -> u32 {
    let number = c_long::from(call.number);
    let is_shared = others == Others::Visible && SHARED_MEMORY.contains(&number);
    let is_unknown = UNKNOWN.contains(&number) || is_shared || call.number >= X32;
    if call.kind == OURS && is_unknown {
        return error(libc::ENOSYS);
    }
    let mut rules = weighed(network, others).unwrap();
    rules.extend(NEVER.iter().map(|number| (*number, Vec::new())));
    if network == Network::Off {
        rules.extend(CONNECTING.iter().map(|number| (*number, Vec::new())));
    }
    run(&compile(rules).unwrap(), call).0
}

#[test]
fn every_number_has_its_answer() {
    for (network, others) in LEVELS {
        let filter = Filter::new(network, others).unwrap();
        for number in (0..1024).chain(X32..X32 + 1024).chain([u32::MAX]) {
            let call = Call::new(number, [0; 6]);
            assert_eq!(run(&filter.0, call).0, slowly(network, others, call), "{number}");
        }
        for never in NEVER {
            let call = Call::new(u32::try_from(*never).unwrap(), [0; 6]);
            assert_eq!(run(&filter.0, call).0, error(libc::EPERM), "{never}");
        }
    }
}

/// Whether a filter lets a call through.
fn allows(filter: &Filter, number: c_long, arguments: [u64; 6]) -> bool {
    let call = Call::new(u32::try_from(number).unwrap(), arguments);
    run(&filter.0, call).0 == libc::SECCOMP_RET_ALLOW
}

#[test]
fn only_listed_sockets_are_allowed() {
    // Family, type and protocol, in numbers of the kernel; flags of the type do not matter.
    let local = [(1, 1), (1, 5)];
    let internet = [(2, 1), (2, 2), (10, 1), (10, 2), (16, 2), (16, 3)];
    for (network, others) in LEVELS {
        let filter = Filter::new(network, others).unwrap();
        for family in 0..64 {
            for kind in 0..16 {
                let is_local = local.contains(&(family, kind));
                let is_internet = network == Network::On && internet.contains(&(family, kind));
                for flags in [0, 0o4000, 0o2_000_000, 0o2_004_000, 0xffff_ffff_0000_0000] {
                    let socket = [family, kind | flags, 0, 0, 0, 0];
                    let message = format!("{network:?} {family} {kind} {flags:o}");
                    let is_allowed = allows(&filter, libc::SYS_socket, socket);
                    assert_eq!(is_allowed, is_local || is_internet, "socket {message}");
                    let is_allowed = allows(&filter, libc::SYS_socketpair, socket);
                    assert_eq!(is_allowed, is_local, "socketpair {message}");
                }
            }
        }
        for protocol in 1..32 {
            assert!(!allows(&filter, libc::SYS_socket, [16, 3, protocol, 0, 0, 0]), "{protocol}");
        }
    }
}

#[test]
fn other_processes_keep_their_scheduling_where_they_can_be_named() {
    let filter = Filter::new(Network::Off, Others::Visible).unwrap();
    for (call, argument) in SCHEDULING {
        let mut arguments = [0; 6];
        assert!(allows(&filter, *call, arguments), "{call}");
        arguments[usize::from(*argument)] = 4711;
        assert!(!allows(&filter, *call, arguments), "{call}");
    }
    // All processes of this user.
    assert!(!allows(&filter, libc::SYS_setpriority, [2, 0, 0, 0, 0, 0]));
    assert!(!allows(&filter, libc::SYS_ioprio_set, [3, 0, 0, 0, 0, 0]));
}

#[test]
fn programs_of_another_kind_are_killed() {
    let filter = Filter::new(Network::On, Others::Hidden).unwrap();
    for number in 0..1024 {
        let call = Call { kind: 0x4000_0003, ..Call::new(number, [0; 6]) };
        assert_eq!(run(&filter.0, call).0, libc::SECCOMP_RET_KILL_PROCESS, "{number}");
    }
}

#[test]
fn what_is_allowed_by_its_number_is_found_in_a_few_steps() {
    let filter = Filter::new(Network::Off, Others::Visible).unwrap();
    let steps = |number| run(&filter.0, Call::new(number, [0; 6]));
    let most = (0..512).map(steps).filter(|(answer, _)| *answer == libc::SECCOMP_RET_ALLOW);
    let all: usize = most.map(|(_, steps)| steps).sum();
    assert!(all < 512 * 16, "{all} steps");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn arguments_are_weighed_as_ever(
        number in prop::sample::select(vec![
            libc::SYS_clone, libc::SYS_unshare, libc::SYS_ioctl, libc::SYS_prlimit64, libc::SYS_socket,
            libc::SYS_socketpair, libc::SYS_connect, libc::SYS_read, libc::SYS_setpriority,
            libc::SYS_ioprio_set, libc::SYS_sched_setaffinity,
        ]),
        flags in prop::collection::vec(0_u32..64, 0..4),
        exact in prop::sample::select(vec![0_u64, 1, 2, 3, 10, 16, 0x5412, 0x541c, 0xff_0000_5412]),
        place in 0_usize..3,
        level in prop::sample::select(LEVELS.to_vec()),
    ) {
        let (network, others) = level;
        let mut arguments = [0; 6];
        arguments[0] = flags.iter().fold(0, |word, bit| word | 1 << bit);
        arguments[place] = exact;
        let call = Call::new(u32::try_from(number).unwrap(), arguments);
        let filter = Filter::new(network, others).unwrap();
        prop_assert_eq!(run(&filter.0, call).0, slowly(network, others, call));
    }
}
