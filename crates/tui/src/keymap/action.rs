//! What can be done with a key, and under which name: one row an action.

/// Where an action stands in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// Writing and sending prompts.
    Prompt,
    /// The running turn and the session.
    Session,
    /// Questions that wait.
    Questions,
    /// Reading the conversation.
    Reading,
    /// Lists and pages.
    Panes,
    /// The interface itself.
    Interface,
}

impl Group {
    /// Its heading.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Session => "session",
            Self::Questions => "questions",
            Self::Reading => "reading",
            Self::Panes => "lists and pages",
            Self::Interface => "interface",
        }
    }
}

/// Something the user can do with a key, beside typing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// Say what is in the composer; while a turn runs, it joins it.
    Send,
    /// Say it after the running turn.
    SendLater,
    /// A new line in the composer.
    NewLine,
    /// Stop the running turn, or close what is open.
    Stop,
    /// Clear the composer; with an empty one, twice in a row quits.
    Clear,
    /// Quit; only with an empty composer.
    Quit,
    /// Give the terminal back to the shell for a while.
    Suspend,
    /// Enter a provider's key.
    OpenLogin,
    /// Draw everything again.
    Redraw,
    /// The list of all commands.
    OpenPalette,
    /// The list of models.
    OpenModels,
    /// The list of sessions.
    OpenSessions,
    /// Begin a new session.
    NewSession,
    /// Files changed in this session.
    OpenChanges,
    /// Moments to go back to.
    OpenCheckpoints,
    /// Agents.
    OpenAgents,
    /// Skills.
    OpenSkills,
    /// MCP and language servers.
    OpenServers,
    /// What is to be done.
    OpenTodos,
    /// What fills the context window.
    OpenContext,
    /// What the session cost.
    OpenCost,
    /// Themes.
    OpenThemes,
    /// Keys and commands.
    OpenHelp,
    /// Prompts that wait.
    OpenQueue,
    /// The next mode of what may be done without asking.
    NextMode,
    /// More or less thinking.
    NextEffort,
    /// Write the prompt in an editor.
    OpenEditor,
    /// Put a picture from the clipboard into the prompt.
    PasteImage,
    /// Search what was said before.
    SearchHistory,
    /// Full screen or inline.
    ToggleScreen,
    /// Mouse for us or for the terminal.
    ToggleMouse,
    /// Side pane shown or not.
    ToggleSide,
    /// Thoughts shown or not.
    ToggleThoughts,
    /// Fold or unfold the newest tool block, or the chosen one.
    ToggleFold,
    /// Fold or unfold all tool blocks.
    ToggleAll,
    /// Copy the newest answer.
    CopyAnswer,
    /// Up in the conversation.
    ScrollUp,
    /// Down in the conversation.
    ScrollDown,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the beginning.
    ScrollTop,
    /// To the end, and stay there.
    ScrollBottom,
    /// To the item before.
    ItemUp,
    /// To the item after.
    ItemDown,
    /// Allow what is asked about, once.
    AllowOnce,
    /// Allow it for this session.
    AllowSession,
    /// Allow it by a lasting rule.
    AllowAlways,
    /// Do not allow it.
    Deny,
    /// Move between composer and question.
    FocusPanel,
}

/// What is to be known of an action.
#[derive(Debug)]
pub struct Entry {
    /// The action.
    pub action: Action,
    /// Its name in settings.
    pub name: &'static str,
    /// Where it stands in the help.
    pub group: Group,
    /// What it does, in one line.
    pub about: &'static str,
    /// The keys it has unless the user chose others.
    pub keys: &'static [&'static str],
}

const fn entry(
    action: Action,
    name: &'static str,
    group: Group,
    about: &'static str,
    keys: &'static [&'static str],
) -> Entry {
    Entry { action, name, group, about, keys }
}

/// All actions, in the order of the help.
///
/// Control with M, I, H or `[` is what terminals send for Enter, Tab, Backspace and Escape, so none of these is
/// used. A key with which the composer edits is the composer's while something is written. Every pane that has no key is in the palette.
pub const ACTIONS: [Entry; 49] = [
    entry(Action::Send, "send", Group::Prompt, "send; while a turn runs, join it", &["enter"]),
    entry(
        Action::SendLater,
        "send_later",
        Group::Prompt,
        "send after the running turn",
        &["alt+enter"],
    ),
    entry(Action::NewLine, "new_line", Group::Prompt, "new line", &["shift+enter", "ctrl+j"]),
    entry(
        Action::OpenEditor,
        "open_editor",
        Group::Prompt,
        "write the prompt in your editor",
        &["ctrl+g"],
    ),
    entry(Action::PasteImage, "paste_image", Group::Prompt, "paste a picture or text", &["ctrl+v"]),
    entry(
        Action::SearchHistory,
        "search_history",
        Group::Prompt,
        "search what you said before",
        &["ctrl+r"],
    ),
    entry(Action::OpenQueue, "open_queue", Group::Prompt, "prompts that wait", &["alt+q"]),
    entry(Action::Clear, "clear", Group::Prompt, "clear the prompt; twice quits", &["ctrl+c"]),
    entry(Action::Stop, "stop", Group::Session, "stop the turn, close what is open", &["esc"]),
    entry(Action::NextMode, "next_mode", Group::Session, "next permission mode", &["shift+tab"]),
    entry(Action::NextEffort, "next_effort", Group::Session, "think more or less", &["alt+e"]),
    entry(Action::NewSession, "new_session", Group::Session, "new session", &["ctrl+n"]),
    entry(
        Action::OpenSessions,
        "open_sessions",
        Group::Session,
        "sessions of all projects",
        &["ctrl+s"],
    ),
    entry(Action::OpenModels, "open_models", Group::Session, "choose a model", &["alt+p", "f2"]),
    entry(Action::OpenLogin, "open_login", Group::Session, "enter a provider's key", &[]),
    entry(
        Action::OpenCheckpoints,
        "open_checkpoints",
        Group::Session,
        "go back to an earlier moment",
        &["f6"],
    ),
    entry(Action::AllowOnce, "allow_once", Group::Questions, "yes, once", &["alt+y"]),
    entry(
        Action::AllowSession,
        "allow_session",
        Group::Questions,
        "yes, for this session",
        &["alt+s"],
    ),
    entry(
        Action::AllowAlways,
        "allow_always",
        Group::Questions,
        "yes, by a lasting rule",
        &["alt+a"],
    ),
    entry(Action::Deny, "deny", Group::Questions, "no", &["alt+n"]),
    entry(
        Action::FocusPanel,
        "focus_panel",
        Group::Questions,
        "between prompt and question",
        &["tab"],
    ),
    entry(Action::PageUp, "page_up", Group::Reading, "a page up", &["pageup"]),
    entry(Action::PageDown, "page_down", Group::Reading, "a page down", &["pagedown"]),
    entry(Action::ScrollUp, "scroll_up", Group::Reading, "a row up", &["alt+up"]),
    entry(Action::ScrollDown, "scroll_down", Group::Reading, "a row down", &["alt+down"]),
    entry(
        Action::ScrollTop,
        "scroll_top",
        Group::Reading,
        "to the beginning",
        &["ctrl+home", "alt+home"],
    ),
    entry(
        Action::ScrollBottom,
        "scroll_bottom",
        Group::Reading,
        "to the end, and follow",
        &["ctrl+end", "alt+end"],
    ),
    entry(Action::ItemUp, "item_up", Group::Reading, "to the item before", &["alt+k", "ctrl+up"]),
    entry(
        Action::ItemDown,
        "item_down",
        Group::Reading,
        "to the item after",
        &["alt+j", "ctrl+down"],
    ),
    entry(Action::ToggleFold, "toggle_fold", Group::Reading, "fold or unfold", &["ctrl+o"]),
    entry(Action::ToggleAll, "toggle_all", Group::Reading, "fold or unfold all", &["alt+o"]),
    entry(
        Action::ToggleThoughts,
        "toggle_thoughts",
        Group::Reading,
        "show or hide thoughts",
        &["alt+t"],
    ),
    entry(Action::CopyAnswer, "copy_answer", Group::Reading, "copy the newest answer", &["alt+c"]),
    entry(Action::OpenPalette, "open_palette", Group::Panes, "all commands", &["ctrl+p"]),
    entry(Action::OpenHelp, "open_help", Group::Panes, "keys and commands", &["f1", "alt+h"]),
    entry(Action::OpenTodos, "open_todos", Group::Panes, "what is to be done", &["ctrl+t"]),
    entry(
        Action::OpenChanges,
        "open_changes",
        Group::Panes,
        "files changed in this session",
        &["f5"],
    ),
    entry(
        Action::OpenContext,
        "open_context",
        Group::Panes,
        "what fills the context window",
        &["f7"],
    ),
    entry(Action::OpenServers, "open_servers", Group::Panes, "MCP and language servers", &["f8"]),
    entry(Action::OpenCost, "open_cost", Group::Panes, "what the session cost", &["f9"]),
    entry(Action::OpenAgents, "open_agents", Group::Panes, "agents", &[]),
    entry(Action::OpenSkills, "open_skills", Group::Panes, "skills", &[]),
    entry(Action::OpenThemes, "open_themes", Group::Panes, "themes", &[]),
    entry(Action::ToggleSide, "toggle_side", Group::Interface, "side pane on or off", &["f3"]),
    entry(
        Action::ToggleScreen,
        "toggle_screen",
        Group::Interface,
        "full screen or inline",
        &["f4"],
    ),
    entry(
        Action::ToggleMouse,
        "toggle_mouse",
        Group::Interface,
        "mouse for us or for the terminal",
        &["alt+m"],
    ),
    entry(Action::Redraw, "redraw", Group::Interface, "draw everything again", &["ctrl+l"]),
    entry(
        Action::Suspend,
        "suspend",
        Group::Interface,
        "back to the shell; fg returns",
        &["ctrl+z"],
    ),
    entry(Action::Quit, "quit", Group::Interface, "quit, with an empty prompt", &["ctrl+d"]),
];

impl Action {
    /// What is to be known of it.
    pub fn entry(self) -> &'static Entry {
        // The test below holds this: every action has its row.
        ACTIONS.iter().find(|entry| entry.action == self).unwrap_or(&ACTIONS[0])
    }

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// What it does, in one line.
    pub fn about(self) -> &'static str {
        self.entry().about
    }

    /// The action of a name.
    pub fn named(name: &str) -> Option<Self> {
        ACTIONS.iter().find(|entry| entry.name == name).map(|entry| entry.action)
    }

    /// Whether it means something only while a question waits; its keys are the composer's otherwise.
    pub fn is_for_questions(self) -> bool {
        self.entry().group == Group::Questions
    }
}
