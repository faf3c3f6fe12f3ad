//! The read-only proof against a real bash: random lines that are allowed without a question run under `strace`, and
//! none may write, start a program that is not on the list, or open a connection.

mod grammar;
mod tripwire;

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Instant;

use base::Env;
use guard::Decision;

use crate::commands::say;
use crate::room::Room;
use grammar::Generator;
use tripwire::{Arena, Harm, Trip};

/// Lines generated without `CAIMAN_SOAK`.
const LINES: usize = 5_000;
/// Lines that are judged together; those that are allowed run under one `strace`, whose start costs as much as some
/// lines.
const BATCH: usize = 240;
/// Lines before the one at which the wire tripped that may have left the process that did it.
const BACKGROUND: usize = 4;
/// Failures that are shrunk and reported; with more, the first ones are enough to start with.
const REPORTED: usize = 12;

/// Programs that may run code of the project or use the network by design; the sandbox holds them, no proof does.
#[rustfmt::skip]
const HELD: &[&str] = &[
    "apt-cache", "cargo", "kubectl", "npm", "pip", "pip3", "python", "python3", "go", "rustup", "rustc", "node", "java", "ruby", "perl", "yq",
    "ldd", "deno", "bun", "uv", "php", "ss", "netstat", "lsof", "ip", "docker", "rustfmt", "gcc", "clang", "cmake",
    "make", "bat", "batcat", "cloc", "tokei", "shellcheck", "pstree", "hostname", "mount", "submodule", "zgrep",
];

/// One thread's judge and runner.
struct Worker {
    room: Room,
    arena: Arena,
}

/// A line that was allowed and did harm.
struct Failure {
    line: String,
    shrunk: String,
    trips: Vec<Trip>,
}

impl Failure {
    fn text(&self) -> String {
        let trip = &self.trips[0];
        let (shrunk, line) = (&self.shrunk, &self.line);
        format!("  {shrunk:?}\n    from {line:?}\n    {:?}: {}", trip.harm, trip.call)
    }
}

impl Worker {
    fn allows(&self, line: &str) -> bool {
        let usable = !line.contains('\0') && line.len() < 2_000;
        usable && self.room.run(line).decision == Decision::Allow
    }

    /// The trips of one line that is allowed, alone in a fresh folder.
    fn fails(&self, line: &str) -> Vec<Trip> {
        if !self.allows(line) {
            return Vec::new();
        }
        self.arena.restore();
        self.arena.run(&[line.to_owned()]).remove(0)
    }

    /// Drops words and characters as long as the line still does the same kind of harm.
    fn shrink(&self, line: &str, harm: Harm) -> String {
        let mut shortest = line.to_owned();
        let mut tries = 0;
        for separator in ["\n", ";", " ", ""] {
            let mut index = 0;
            while tries < 120 {
                let parts = split(&shortest, separator);
                if index >= parts.len() || (separator.is_empty() && parts.len() > 60) {
                    break;
                }
                let rest = [&parts[..index], &parts[index + 1..]].concat().join(separator);
                tries += 1;
                if !rest.trim().is_empty() && self.fails(&rest).iter().any(|trip| trip.harm == harm)
                {
                    shortest = rest;
                } else {
                    index += 1;
                }
            }
        }
        shortest
    }

    /// Runs lines that are allowed, and returns those that fail alone, too.
    fn failures(&self, lines: &[String], room_for: usize) -> Vec<Failure> {
        let suspects = self.arena.run(lines);
        let mut failures: Vec<Failure> = Vec::new();
        let mut done = 0;
        for (index, _) in suspects.iter().enumerate().filter(|(_, trips)| !trips.is_empty()) {
            // A process in the background may trip the wire during a later line.
            let first = index.saturating_sub(BACKGROUND).max(done);
            done = index + 1;
            let alone = |line: &String| (line.clone(), self.fails(line));
            let found = lines[first..=index].iter().rev().map(alone);
            let Some((line, trips)) = found.into_iter().find(|(_, trips)| !trips.is_empty()) else {
                continue;
            };
            let reported = failures.len() < room_for;
            let shrunk = if reported { self.shrink(&line, trips[0].harm) } else { line.clone() };
            failures.push(Failure { line, shrunk, trips });
        }
        if !failures.is_empty() {
            self.arena.restore();
        }
        failures
    }
}

fn split(line: &str, separator: &str) -> Vec<String> {
    if separator.is_empty() {
        return line.chars().map(String::from).collect();
    }
    line.split(separator).map(str::to_owned).collect()
}

/// Whether a line names a program that only the sandbox holds.
fn is_held(line: &str) -> bool {
    let word = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    line.split(|it| !word(it)).any(|it| HELD.contains(&it))
}

fn number(name: &str) -> Option<usize> {
    Env::of_process().get(name).and_then(|text| text.parse().ok())
}

#[test]
fn the_tripwire_sees_harm_and_nothing_else() {
    let Some(arena) = Arena::new() else { return };
    for (line, wanted) in [
        ("touch pwn", Harm::Process),
        ("./x", Harm::Process),
        ("PATH=./bin; ls", Harm::Process),
        ("xargs ./x < a.txt", Harm::Process),
        ("tar tf a.tar -I ./x", Harm::Process),
        ("awk 'BEGIN { system(\"./x\") }'", Harm::Process),
        ("git -c core.fsmonitor=./x status", Harm::Process),
        ("x='a[$(./x)]'; echo $((x))", Harm::Process),
        ("echo hi > pwn", Harm::Write),
        ("echo hi >> a.txt", Harm::Write),
        ("sort -o pwn a.txt", Harm::Write),
        ("sed -i p a.txt", Harm::Write),
        ("sed -n 'w pwn' a.txt", Harm::Write),
        ("awk '{ print > \"pwn\" }' a.txt", Harm::Write),
        ("find . -name a.txt -delete", Harm::Write),
        ("uniq a.txt pwn", Harm::Write),
        ("git branch pwn", Harm::Write),
        ("git diff --no-index --output=pwn a.txt b.txt", Harm::Write),
        ("echo x > /etc/pwn", Harm::Write),
        ("(sleep 0.2; echo > pwn) &", Harm::Write),
        ("exec 3<>/dev/tcp/127.0.0.1/9", Harm::Socket),
        ("echo x > /dev/udp/127.0.0.1/9", Harm::Socket),
    ] {
        arena.restore();
        let trips = arena.run(&[line.to_owned()]).remove(0);
        assert!(trips.iter().any(|trip| trip.harm == wanted), "{line}: {trips:?}");
    }
    arena.restore();
    let quiet = [
        "ls -la",
        "cat a.txt | sort | uniq -c",
        "git status",
        "git diff HEAD~1",
        "git log -p | head",
        "diff <(ls) <(ls src)",
        "cat <<EOF\nhi\nEOF",
        "find . -name '*.rs' -exec grep -l main {} +",
        "ls > /dev/null 2>&1",
        "tar tf a.tar",
        "tar tzf a.tar.gz",
        "zcat a.gz",
        "for f in *; do wc -l \"$f\"; done",
    ]
    .map(str::to_owned);
    let trips = arena.run(&quiet);
    for (line, trips) in quiet.iter().zip(trips) {
        assert!(trips.is_empty(), "{line}: {trips:?}");
    }
}

/// What the workers share.
struct Campaign {
    generator: Generator,
    known: HashSet<String>,
    wanted: usize,
    allowed: usize,
    ran: usize,
    failures: Vec<Failure>,
}

impl Campaign {
    /// The next lines, none of them twice; nothing when there are enough.
    fn next_batch(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while self.known.len() < self.wanted && lines.len() < BATCH {
            let line = self.generator.line();
            if self.known.insert(line.clone()) {
                lines.push(line);
            }
        }
        lines
    }
}

/// Judges and runs batches until there are no more.
fn work(campaign: &Mutex<Campaign>, worker: &Worker) {
    loop {
        let lines = campaign.lock().unwrap().next_batch();
        if lines.is_empty() {
            return;
        }
        let mut allowed: Vec<String> =
            lines.into_iter().filter(|line| worker.allows(line)).collect();
        let judged_read_only = allowed.len();
        allowed.retain(|line| !is_held(line));
        let room_for = {
            let mut campaign = campaign.lock().unwrap();
            campaign.allowed += judged_read_only;
            campaign.ran += allowed.len();
            REPORTED.saturating_sub(campaign.failures.len())
        };
        let failures = worker.failures(&allowed, room_for);
        campaign.lock().unwrap().failures.extend(failures);
    }
}

#[test]
fn lines_that_run_unasked_do_no_harm_in_a_real_bash() {
    let Some(first) = Arena::new() else { return };
    let wanted = number("CAIMAN_SOAK").map_or(LINES, |soak| soak.max(LINES));
    let seed = number("CAIMAN_SEED").unwrap_or(wanted);
    let start = Instant::now();
    let campaign = Mutex::new(Campaign {
        generator: Generator::new(seed as u64),
        known: HashSet::new(),
        wanted,
        allowed: 0,
        ran: 0,
        failures: Vec::new(),
    });
    std::thread::scope(|scope| {
        for arena in [Some(first), Arena::new()].into_iter().flatten() {
            let worker = Worker { room: Room::new(), arena };
            let campaign = &campaign;
            scope.spawn(move || work(campaign, &worker));
        }
    });
    let Campaign { allowed, ran, failures, .. } = campaign.into_inner().unwrap();
    let seconds = start.elapsed().as_secs();
    say(&format!(
        "differential: {wanted} lines (seed {seed}), {allowed} judged read-only, {ran} run, {seconds} s\n"
    ));
    let texts: Vec<String> = failures.iter().take(REPORTED).map(Failure::text).collect();
    let count = failures.len();
    assert!(failures.is_empty(), "{count} allowed lines did harm:\n{}", texts.join("\n"));
    assert!(allowed * 10 >= wanted * 3, "only {allowed} of {wanted} lines were judged read-only");
}
