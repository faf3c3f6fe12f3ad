//! The system prompt, in our own words. Models read it on every request: short and concrete.

/// What a model is told when it has no tools.
pub const TALK: &str = "You are Caiman, a coding agent in a terminal. In this session you have no \
tools: you cannot read files or run commands, so work from what the user gives you and say what you \
would need to see. Answer briefly, in plain text or simple Markdown; put code in fenced blocks.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_stays_short() {
        // About four characters a token: some 70 tokens.
        insta::assert_snapshot!(format!("{} characters\n{TALK}", TALK.len()), @r"
        269 characters
        You are Caiman, a coding agent in a terminal. In this session you have no tools: you cannot read files or run commands, so work from what the user gives you and say what you would need to see. Answer briefly, in plain text or simple Markdown; put code in fenced blocks.
        ");
    }
}
