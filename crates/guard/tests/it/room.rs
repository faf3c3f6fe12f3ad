//! A folder with a workspace and a home, and a policy for them.

use std::fs;
use std::path::{Path, PathBuf};

use base::protocol::Mode;
use guard::policy::CageState;
use guard::{Action, Decision, Fence, Policy, Rule, Rules, Spot, Taint, Verdict};
use tempfile::TempDir;

pub(crate) struct Room {
    _dir: TempDir,
    pub(crate) top: PathBuf,
    pub(crate) policy: Policy,
}

impl Room {
    /// `work/src/main.rs`, `work/.env`, `work/.git/config`, `home/.ssh/id`, in a working cage.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir_in(crate::place::lasting()).unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        for file in
            ["work/src/main.rs", "work/.env", "work/.git/config", "home/.ssh/id", "home/notes"]
        {
            let path = top.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x\n").unwrap();
        }
        let fence = Fence::new(&top.join("work"), &[], &top.join("home")).unwrap();
        let (rules, mode, cage) = (Rules::default(), Mode::Default, CageState::Works);
        Self { _dir: dir, top, policy: Policy { rules, mode, fence, cage, bounds: Vec::new() } }
    }

    pub(crate) fn mode(mut self, mode: Mode) -> Self {
        self.policy.mode = mode;
        self
    }

    pub(crate) fn uncaged(mut self) -> Self {
        self.policy.cage = CageState::Missing;
        self
    }

    pub(crate) fn allow(mut self, rules: &[&str]) -> Self {
        self.policy.rules.allow.extend(parsed(rules));
        self
    }

    pub(crate) fn ask(mut self, rules: &[&str]) -> Self {
        self.policy.rules.ask.extend(parsed(rules));
        self
    }

    pub(crate) fn deny(mut self, rules: &[&str]) -> Self {
        self.policy.rules.deny.extend(parsed(rules));
        self
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.top.join("work")
    }

    pub(crate) fn spot(&self, path: impl AsRef<Path>) -> Spot {
        self.policy.fence.locate(path).unwrap()
    }

    pub(crate) fn run(&self, command: &str) -> Verdict {
        self.decide("bash", self.command(command), &Taint::Clean)
    }

    pub(crate) fn command(&self, command: &str) -> Action {
        Action::Run { command: command.to_owned(), folder: self.spot("."), uncaged: false }
    }

    pub(crate) fn read(&self, path: &str) -> Decision {
        self.decide("view", Action::Read(self.spot(path)), &Taint::Clean).decision
    }

    pub(crate) fn edit(&self, path: &str) -> Decision {
        self.decide("edit", Action::Edit(self.spot(path)), &Taint::Clean).decision
    }

    pub(crate) fn fetch(&self, url: &str, taint: &Taint) -> Decision {
        self.decide("fetch", Action::Fetch(url.parse().unwrap()), taint).decision
    }

    pub(crate) fn decide(&self, tool: &str, action: Action, taint: &Taint) -> Verdict {
        self.policy.decide(tool, &[action], taint)
    }
}

pub(crate) fn parsed(rules: &[&str]) -> Vec<Rule> {
    rules.iter().map(|text| Rule::parse(text).unwrap()).collect()
}

pub(crate) fn tainted() -> Taint {
    Taint::From("https://evil.example".to_owned())
}
