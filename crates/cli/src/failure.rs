//! An error on its way out: kind, exit code, hints.

/// An error as the user meets it.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Decides the exit code.
    pub(crate) kind: Kind,
    /// What went wrong, naming the file, field or provider.
    pub(crate) message: String,
    /// What to do about it, one line each.
    pub(crate) hints: Vec<String>,
}

/// The kinds of failure, each with its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The command line or its input is wrong.
    User,
    /// Settings, database or environment are wrong.
    Config,
    /// A permission was denied.
    Denied,
    /// A budget is used up.
    Budget,
    /// The model's provider failed.
    Provider,
    /// It took too long.
    Timeout,
    /// The user stopped it.
    Cancelled,
    /// The system stopped it (SIGTERM).
    Terminated,
    /// Nobody reads our output any more (`| head`); said by the exit code alone.
    Unread,
    /// Our own fault.
    Internal,
}

impl Kind {
    /// The process's exit code.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::User | Self::Config | Self::Internal => 1,
            Self::Denied => 2,
            Self::Budget => 3,
            Self::Provider => 4,
            Self::Timeout => 5,
            Self::Cancelled => 130,
            Self::Unread => 141,
            Self::Terminated => 143,
        }
    }
}

impl Failure {
    /// A failure of one kind.
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new() }
    }

    /// The command line or its input is wrong.
    pub(crate) fn user(message: impl Into<String>) -> Self {
        Self::new(Kind::User, message)
    }

    /// Settings, database or environment are wrong.
    pub(crate) fn config(message: impl Into<String>) -> Self {
        Self::new(Kind::Config, message)
    }

    /// The same failure with one more line on what to do.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The failure as text: `error:` and `hint:` lines.
    pub(crate) fn text(&self) -> String {
        let error = std::iter::once(format!("error: {}\n", self.message));
        error.chain(self.hints.iter().map(|hint| format!("hint: {hint}\n"))).collect()
    }
}
