//! Why a call is allowed, asked about or denied.
//!
//! The value decides, its `Display` only explains: the permission prompt, hooks and `caiman policy explain` read
//! the same [`Reason`].

use base::protocol::Mode;
use serde::Serialize;

use super::Decision;
use crate::rule::Rule;

/// Why a call is allowed, asked about or denied. Serialized with its variant as `kind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// A rule decides.
    #[error("the rule `{rule}` {} it", verb_of(*list))]
    Rule {
        /// The rule.
        rule: Rule,
        /// The list it is in.
        list: Decision,
    },
    /// The mode asks about nothing.
    #[error("nothing is asked in this mode")]
    BypassMode,
    /// It would be asked about or run in another mode, but not in this one.
    #[error("{inner}, and {}", limit_of(*mode))]
    DeniedByMode {
        /// The mode.
        mode: Mode,
        /// What the mode does not let happen.
        inner: Box<Reason>,
    },
    /// Untrusted content is in the context, and only therefore this is asked.
    #[error("{inner} while words from {origin} are in the context")]
    Tainted {
        /// Where the content came from.
        origin: String,
        /// What must not happen without a question then.
        inner: Box<Reason>,
    },
    /// A sub-agent may use the tool only for other things.
    #[error("the agent {agent} may use {tool} only for {}", joined(rules))]
    AgentLimit {
        /// The sub-agent.
        agent: String,
        /// The tool.
        tool: String,
        /// What it may use the tool for.
        rules: Vec<Rule>,
    },
    /// A hook denied it.
    #[error("a hook said no: {message}")]
    DeniedByHook {
        /// What the hook said.
        message: String,
    },
    /// A hook wants the user to be asked.
    #[error("a hook wants it asked about: {message}")]
    AskedByHook {
        /// What the hook said.
        message: String,
    },

    /// It touches nothing outside the session.
    #[error("it touches nothing outside the session")]
    SessionOnly,
    /// It reads a file of the workspace.
    #[error("it reads inside the workspace")]
    ReadsWorkspace,
    /// It changes a file of the workspace, and the mode accepts that.
    #[error("it changes a file of the workspace")]
    EditsWorkspace,
    /// Every command of the line only reads.
    #[error("it only reads")]
    OnlyReads,
    /// The sandbox lets nothing be changed.
    #[error("it runs where nothing can be changed")]
    ReadOnlySandbox,
    /// The sandbox keeps changes inside the workspace.
    #[error("the sandbox keeps it inside the workspace")]
    WorkspaceSandbox,
    /// The text for a job runs no command.
    #[error("it types no command")]
    TypesNoCommand,
    /// The sandbox of the job keeps changes inside the workspace.
    #[error("the sandbox of the job keeps it inside")]
    JobSandbox,

    /// A path is outside the workspace.
    #[error("{path} is outside the workspace")]
    OutsideWorkspace {
        /// The path.
        path: String,
    },
    /// A file may hold secrets.
    #[error("{path} may hold secrets")]
    MayHoldSecrets {
        /// The file.
        path: String,
    },
    /// A file decides what runs later.
    #[error("{path} decides what runs later")]
    ProtectedPath {
        /// The file.
        path: String,
    },
    /// A file that other programs or agents read as instructions later.
    #[error("others obey {path} later")]
    PersistentPath {
        /// The file.
        path: String,
    },
    /// A file has another name elsewhere, which the change would reach.
    #[error("{path} has another name elsewhere (a hard link)")]
    HardLink {
        /// The file.
        path: String,
    },
    /// A file is changed.
    #[error("it changes {path}")]
    EditsFile {
        /// The file.
        path: String,
    },
    /// A host is reached.
    #[error("it reaches {host}")]
    ReachesHost {
        /// The host.
        host: String,
    },
    /// The web researcher chooses hosts by itself.
    #[error("the web researcher may open any host")]
    ReachesAnyHost,
    /// What the tool of an MCP server does is not known.
    #[error("what a server's tool does is not known")]
    UnknownServerTool,
    /// Data is sent to an MCP server.
    #[error("a server is told something")]
    SendsToServer,

    /// The command could not be parsed.
    #[error("the command is not understood: {detail}")]
    Unparsable {
        /// What was not understood.
        detail: String,
    },
    /// A command may do more than read.
    #[error("{detail}")]
    NotReadOnly {
        /// What it may do.
        detail: String,
        /// The command; none where the line as a whole is to blame.
        part: Option<String>,
    },
    /// A command only reads according to its options, and no sandbox would enforce that.
    #[error("it only reads, but there is no sandbox that would make sure")]
    NoSandboxToEnforce {
        /// The command; none where the line as a whole is to blame.
        part: Option<String>,
    },
    /// A git command reads another repository, whose settings may name programs to run.
    #[error("`{part}` reads another repository")]
    OtherRepository {
        /// The command.
        part: String,
    },
    /// A command that does more than read runs without a sandbox.
    #[error("it runs without a sandbox")]
    NoSandbox,
    /// A command names a file that other programs or agents read as instructions later.
    #[error("it touches what others obey later")]
    TouchesPersistentPath,
    /// A word of a command may make it run another program.
    #[error("`{word}` may run another program")]
    MayRunProgram {
        /// The word.
        word: String,
    },
    /// It asks to run outside the sandbox.
    #[error("it asks to run outside the sandbox")]
    OutsideSandbox,
    /// It deletes a system folder, the home folder, the workspace or a folder above it.
    #[error("it deletes {target}")]
    DeletesCritical {
        /// The word that names the folder.
        target: String,
    },
    /// Which commands run is not known before they run, and a rule denies some.
    #[error("which commands it runs is only known when it runs, and a rule denies some")]
    HiddenCommands,
    /// A redirect opens a connection.
    #[error("{target} is a connection")]
    OpensConnection {
        /// The target of the redirect.
        target: String,
    },
    /// The target of a redirect is not known before the command runs.
    #[error("the target of `{target}` is only known when the command runs")]
    UnknownTarget {
        /// The target as written.
        target: String,
    },
    /// The folder that a redirect's target is relative to is not known before the command runs.
    #[error("the folder of `{target}` is only known when the command runs")]
    UnknownFolder {
        /// The target as written.
        target: String,
    },
    /// The files a command reads are not known before it runs.
    #[error("which files it reads is only known when the command runs")]
    UnknownFiles,
    /// A command that reads whole folders would read a file that a rule denies.
    #[error("it would also read {path}, which a rule forbids; name the files to read")]
    ReadsDeniedFile {
        /// The file.
        path: String,
    },
    /// A command reads more files than are checked against the rules.
    #[error("it reads too many files to tell whether a rule forbids one")]
    TooManyFiles,
    /// Text for a running job.
    #[error("it types into a running job")]
    TypesIntoJob,
    /// The job that the text is for runs outside the sandbox.
    #[error("it types into a job that runs outside the sandbox")]
    JobOutsideSandbox,
    /// The job that the text is for may change files.
    #[error("the job may change files")]
    JobMayWrite,
    /// The text for a job edits the line or recalls earlier ones, so what runs is not known.
    #[error(
        "it holds characters that edit the line or recall earlier ones, so what runs is not known"
    )]
    EditsTypedLine,
    /// What runs is not known, so deny rules for commands cannot be checked.
    #[error("{inner}, and deny rules for commands cannot be checked")]
    UncheckedDenyRules {
        /// Why it is not known.
        inner: Box<Reason>,
    },
}

impl Reason {
    /// The rule that decided, if one did.
    #[must_use]
    pub fn rule(&self) -> Option<&Rule> {
        if let Self::DeniedByMode { inner, .. } = self {
            return inner.rule();
        }
        if let Self::Rule { rule, .. } = self { Some(rule) } else { None }
    }

    /// Whether it is only asked because untrusted content is in the context.
    #[must_use]
    pub fn is_taint(&self) -> bool {
        matches!(self, Self::Tainted { .. })
    }

    /// The same, asked because content from `origin` is in the context.
    pub(super) fn tainted(self, origin: &str) -> Self {
        Self::Tainted { origin: origin.to_owned(), inner: Box::new(self) }
    }

    /// The same, denied because of the mode.
    pub(super) fn denied_by(self, mode: Mode) -> Self {
        Self::DeniedByMode { mode, inner: Box::new(self) }
    }
}

fn verb_of(list: Decision) -> &'static str {
    match list {
        Decision::Allow => "allows",
        Decision::Ask => "asks about",
        Decision::Deny => "forbids",
    }
}

fn limit_of(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "nothing is changed while planning",
        Mode::Default | Mode::AcceptEdits | Mode::DontAsk | Mode::Bypass => {
            "in this mode nobody is asked"
        }
    }
}

fn joined(rules: &[Rule]) -> String {
    let rules: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
    rules.join(", ")
}
