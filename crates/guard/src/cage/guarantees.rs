//! What a sandbox keeps from happening, by what it is made of. `caiman doctor` prints the column of this machine, the
//! documentation the whole table, and the tests try every line.

use std::fmt::Write as _;

use super::{Item, Namespace, State, Status};

/// What a sandbox is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Landlock, seccomp and namespaces.
    Namespaces,
    /// Landlock and seccomp.
    Landlock,
    /// Nothing: commands run with all rights of the user.
    Nothing,
}

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// It does.
    Yes,
    /// It does, with this limit.
    Partly(&'static str),
    /// It does not.
    No,
}

/// Something that a sandbox keeps from happening, and where it does. Without a sandbox nothing holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guarantee {
    /// What holds.
    pub what: &'static str,
    /// With namespaces.
    pub namespaces: Holds,
    /// With Landlock alone.
    pub landlock: Holds,
}

const NAMES: Holds = Holds::Partly("names can be listed");
const BESIDE: Holds = Holds::Partly("nothing new can be made beside them");

/// All of them.
pub const GUARANTEES: &[Guarantee] = &[
    both("no file outside the workspace is changed"),
    Guarantee {
        what: "modes, owners and times outside stay",
        namespaces: Holds::Yes,
        landlock: Holds::No,
    },
    Guarantee { what: "protected places stay", namespaces: Holds::Yes, landlock: BESIDE },
    Guarantee {
        what: "git folders by another name and hook folders stay",
        namespaces: Holds::Yes,
        landlock: BESIDE,
    },
    Guarantee {
        what: "places of credentials cannot be read",
        namespaces: Holds::Yes,
        landlock: NAMES,
    },
    Guarantee {
        what: "Caiman's own data and settings cannot be read or changed",
        namespaces: Holds::Yes,
        landlock: NAMES,
    },
    Guarantee { what: "`.env` files cannot be read", namespaces: Holds::Yes, landlock: NAMES },
    both("no connection, no datagram, no descriptor passed out"),
    Guarantee {
        what: "nothing outlives its command or its job",
        namespaces: Holds::Yes,
        landlock: Holds::Partly("a command can prevent it before Linux 6.12"),
    },
    Guarantee {
        what: "other processes cannot be seen",
        namespaces: Holds::Yes,
        landlock: Holds::No,
    },
    Guarantee {
        what: "other processes cannot be looked into or signalled",
        namespaces: Holds::Yes,
        landlock: Holds::Partly("signals get through before Linux 6.12"),
    },
    both("other processes keep their priority"),
    Guarantee {
        what: "shared memory of other programs cannot be reached",
        namespaces: Holds::Yes,
        landlock: Holds::Partly("commands have no shared memory at all"),
    },
    both("no ptrace, io_uring, new namespaces, mounts or kernel modules"),
];

const fn both(what: &'static str) -> Guarantee {
    Guarantee { what, namespaces: Holds::Yes, landlock: Holds::Yes }
}

impl Level {
    /// The level of this machine.
    pub fn of(status: &Status) -> Self {
        match (status.works, status.namespace) {
            (true, Namespace::Privileged | Namespace::User) => Self::Namespaces,
            (true, Namespace::None) => Self::Landlock,
            (false, _) => Self::Nothing,
        }
    }
}

impl Guarantee {
    /// Whether it holds at a level.
    pub fn at(&self, level: Level) -> Holds {
        match level {
            Level::Namespaces => self.namespaces,
            Level::Landlock => self.landlock,
            Level::Nothing => Holds::No,
        }
    }

    /// The same, as a part of what a machine enforces.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "for Linux's sandbox"))]
    pub(super) fn item(&self, level: Level) -> Item {
        let (state, how) = match self.at(level) {
            Holds::Yes => (State::Enforced, "holds"),
            Holds::Partly(limit) => (State::Partly, limit),
            Holds::No => (State::Missing, "needs user namespaces"),
        };
        Item { what: self.what, state, how: how.to_owned() }
    }
}

/// The table for the documentation.
pub fn table() -> String {
    let cell = |holds| match holds {
        Holds::Yes => "yes".to_owned(),
        Holds::Partly(limit) => format!("yes, but {limit}"),
        Holds::No => "no".to_owned(),
    };
    let mut text =
        "| what holds | with namespaces | Landlock alone | neither |\n|---|---|---|---|\n"
            .to_owned();
    for guarantee in GUARANTEES {
        let [one, two, three] = [Level::Namespaces, Level::Landlock, Level::Nothing]
            .map(|level| cell(guarantee.at(level)));
        // Writing to a string cannot fail.
        writeln!(text, "| {} | {one} | {two} | {three} |", guarantee.what).ok();
    }
    text
}
