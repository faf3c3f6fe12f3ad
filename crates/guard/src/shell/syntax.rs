//! From text to [`Script`]: a walk over the tree that `tree-sitter-bash` makes.
//!
//! The grammar is more forgiving than a shell, so the walk is not: a node outside the shapes named here, a
//! piece of text that no node covers, or two words without a space between them, and the line is not
//! understood.

mod arithmetic;
mod constants;
mod document;
mod expansion;
mod produced;
mod words;

use tree_sitter::{Node, Parser};

use super::word::Hole;
use super::{Assignment, Direction, Redirect, Script, Simple, Unclear, Word};
use constants::Constants;
use document::{Document, Tabs};

/// Reads a line whose characters have been looked at.
pub(super) fn read(text: &str) -> Result<Script, Unclear> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .map_err(|_| Unclear::new("the shell's grammar cannot be loaded"))?;
    let tree =
        parser.parse(ascii_twin(text), None).ok_or_else(|| Unclear::new("it cannot be parsed"))?;
    let root = tree.root_node();
    if root.has_error() {
        return Err(Unclear::new("it is not valid shell syntax, or too unusual"));
    }
    // A variable that is set once has a known value; that is known only when all of the line has been read.
    let first = walk(text, root, Constants::default())?;
    let constants = Constants::of(&first.script, &first.updated);
    let walked = if constants.is_empty() { first } else { walk(text, root, constants)? };
    // A program that was unknown until now may set variables itself.
    let walked = if constants::may_set(&walked.script) && !walked.constants.is_empty() {
        walk(text, root, Constants::default())?
    } else {
        walked
    };
    let mut script = walked.script;
    if walked.evaluated.iter().any(|name| !constants::is_numeric(name, &script)) {
        push_once(&mut script.hazards, EVALUATES);
    }
    Ok(script)
}

fn walk<'t>(text: &'t str, root: Node<'_>, constants: Constants) -> Read<Walk<'t>> {
    let mut walk = Walk {
        text,
        script: Script::default(),
        constants,
        evaluated: Vec::new(),
        updated: Vec::new(),
    };
    walk.check_cover(root)?;
    walk.statements(root)?;
    Ok(walk)
}

/// Why a line with arithmetic may do more than it shows.
const EVALUATES: &str = "arithmetic may run what its variables hold";

/// The text with `%` for every byte that is not ASCII: the same length, the same meaning to a shell. The
/// scanner of tree-sitter-bash 0.25.1 looks a character after `{` up in a table for ASCII, and crashes the
/// process where there is none (`{` and U+1F600).
fn ascii_twin(text: &str) -> String {
    text.bytes().map(|byte| if byte.is_ascii() { char::from(byte) } else { '%' }).collect()
}

struct Walk<'t> {
    text: &'t str,
    script: Script,
    /// Variables whose value is known.
    constants: Constants,
    /// Variables whose value arithmetic evaluates.
    evaluated: Vec<String>,
    /// Variables that arithmetic counts up or down from the value they have.
    updated: Vec<String>,
}

/// What a word or statement yields while it is read.
type Read<T> = Result<T, Unclear>;

impl<'t> Walk<'t> {
    fn raw(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// Text that belongs to no node would run unseen.
    fn check_cover(&self, root: Node<'_>) -> Read<()> {
        let mut end = 0;
        let mut leaves = Vec::new();
        collect_leaves(root, &mut leaves, 0)?;
        for leaf in leaves {
            let range = leaf.byte_range();
            if range.start > end {
                self.check_gap(end, range.start)?;
            }
            if leaf.kind() == "comment" {
                self.check_comment(range.start)?;
            }
            end = end.max(range.end);
        }
        self.check_gap(end, self.text.len())
    }

    fn check_gap(&self, start: usize, end: usize) -> Read<()> {
        let gap = self.text.get(start..end).unwrap_or_default();
        let without = gap.replace("\\\n", "");
        let blank = without.chars().all(|it| matches!(it, ' ' | '\t' | '\n'));
        // A line that goes on joins the words on both sides, the grammar parts them.
        if blank && (without.len() == gap.len() || !without.is_empty()) {
            return Ok(());
        }
        Err(Unclear::new("a part of it cannot be parsed"))
    }

    /// To a shell, `#` begins a comment only where a word may begin; the grammar sees one after `]` too.
    fn check_comment(&self, start: usize) -> Read<()> {
        let before = self.text.get(..start).and_then(|text| text.chars().next_back());
        if before.is_none_or(|it| matches!(it, ' ' | '\t' | '\n' | ';')) {
            return Ok(());
        }
        Err(Unclear::new("a `#` may be part of a word"))
    }

    fn statements(&mut self, node: Node<'_>) -> Read<()> {
        for child in children(node) {
            if child.is_named() {
                self.statement(child)?;
            }
        }
        Ok(())
    }

    fn statement(&mut self, node: Node<'_>) -> Read<()> {
        match node.kind() {
            "comment" => Ok(()),
            "command" => self.command(node, Vec::new()),
            "redirected_statement" => self.redirected(node),
            "compound_statement" if self.raw(node).starts_with("((") => self.arithmetic(node),
            "list"
            | "pipeline"
            | "subshell"
            | "negated_command"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "while_statement"
            | "do_group"
            | "variable_assignments"
            | "compound_statement" => self.statements(node),
            "c_style_for_statement" => {
                self.arithmetic_parts(node)?;
                self.body(node)
            }
            "for_statement" => self.loop_over(node),
            "case_statement" | "case_item" => self.cases(node),
            "variable_assignment" => {
                let assignment = self.assignment(node)?;
                self.script.assignments.push(assignment);
                Ok(())
            }
            "declaration_command" | "unset_command" => self.declaration(node),
            "test_command" => self.test(node),
            "function_definition" => self.function(node),
            other => Err(Unclear::new(format!("it has a part of the kind `{other}`"))),
        }
    }

    fn body(&mut self, node: Node<'_>) -> Read<()> {
        match node.child_by_field_name("body") {
            Some(body) => self.statement(body),
            None => Ok(()),
        }
    }

    fn loop_over(&mut self, node: Node<'_>) -> Read<()> {
        let mut cursor = node.walk();
        let variable = node.child_by_field_name("variable");
        let name = variable.map(|it| self.raw(it).to_owned()).unwrap_or_default();
        let mut words = Vec::new();
        for value in node.children_by_field_name("value", &mut cursor) {
            words.extend(self.word(value)?);
        }
        if words.is_empty() {
            words.push(Word::unknown(""));
        }
        for value in words {
            self.script.assignments.push(Assignment { name: name.clone(), value });
        }
        self.body(node)
    }

    fn cases(&mut self, node: Node<'_>) -> Read<()> {
        let mut cursor = node.walk();
        for (index, child) in node.children(&mut cursor).enumerate() {
            let field = u32::try_from(index).ok().and_then(|it| node.field_name_for_child(it));
            match (field, child.is_named()) {
                (Some("value"), true) => drop(self.word(child)?),
                (_, true) => self.statement(child)?,
                (_, false) => {}
            }
        }
        Ok(())
    }

    fn function(&mut self, node: Node<'_>) -> Read<()> {
        let name = node.child_by_field_name("name").map(|it| self.raw(it)).unwrap_or_default();
        if super::read_only::is_known(name) || super::wrap::is_known(name) {
            return Err(Unclear::new(format!("it gives `{name}` another meaning")));
        }
        if let Some(redirect) = node.child_by_field_name("redirect") {
            let extra = self.redirect(redirect)?;
            refuse_extra(&extra)?;
        }
        self.body(node)
    }

    /// A simple command; `tail` are words that the grammar took for part of a redirect.
    fn command(&mut self, node: Node<'_>, tail: Vec<Word>) -> Read<()> {
        let mut simple = Simple::new(Vec::new());
        let mut last_end = None;
        for child in children(node) {
            match child.kind() {
                "variable_assignment" => simple.assignments.push(self.assignment(child)?),
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    let extra = self.redirect(child)?;
                    simple.words.extend(extra);
                }
                "comment" => {}
                "subshell" => return Err(Unclear::new("it has brackets after a command's name")),
                _ => {
                    if last_end == Some(child.start_byte()) {
                        return Err(Unclear::new("two of its words touch each other"));
                    }
                    last_end = Some(child.end_byte());
                    simple.words.extend(self.word(child)?);
                }
            }
        }
        simple.words.extend(tail);
        if simple.program() == Some("coproc") {
            return Err(Unclear::new("it starts a coprocess"));
        }
        self.script.commands.push(simple);
        Ok(())
    }

    fn redirected(&mut self, node: Node<'_>) -> Read<()> {
        let body = node.child_by_field_name("body");
        let mut extra = Vec::new();
        for child in children(node).into_iter().filter(Node::is_named) {
            if Some(child) != body {
                extra.extend(self.redirect(child)?);
            }
        }
        match body {
            Some(body) if body.kind() == "command" => self.command(body, extra),
            Some(body) => {
                refuse_extra(&extra)?;
                self.statement(body)
            }
            None if extra.is_empty() => Ok(()),
            None => {
                self.script.commands.push(Simple::new(extra));
                Ok(())
            }
        }
    }

    /// Notes a redirect; returns words after its target, which the shell gives to the command.
    fn redirect(&mut self, node: Node<'_>) -> Read<Vec<Word>> {
        match node.kind() {
            "file_redirect" => self.file_redirect(node),
            "herestring_redirect" => {
                self.script.has_document = true;
                for child in children(node) {
                    if child.is_named() && child.kind() != "file_descriptor" {
                        self.word(child)?;
                    }
                }
                Ok(Vec::new())
            }
            "heredoc_redirect" => self.heredoc(node),
            "comment" => Ok(Vec::new()),
            other => Err(Unclear::new(format!("it has a redirect of the kind `{other}`"))),
        }
    }

    fn file_redirect(&mut self, node: Node<'_>) -> Read<Vec<Word>> {
        // `{name}>file` sets a variable, and its index may run code.
        if self.text.get(..node.start_byte()).is_some_and(|before| before.ends_with(['}', ']'])) {
            return Err(Unclear::new("a redirect may set a variable"));
        }
        let mut operator = "";
        let mut words = Vec::new();
        for child in children(node) {
            match child.kind() {
                "file_descriptor" => {}
                _ if !child.is_named() => operator = self.raw(child),
                _ => words.push(self.word(child)?),
            }
        }
        let direction = match operator {
            "<" | "<&" => Direction::In,
            ">" | ">>" | "&>" | "&>>" | ">&" | ">|" => Direction::Out,
            "<&-" | ">&-" => return Ok(words.into_iter().flatten().collect()),
            other => return Err(Unclear::new(format!("it has the redirect `{other}`"))),
        };
        let mut words = words.into_iter();
        let Some(Ok([target])) = words.next().map(<[Word; 1]>::try_from) else {
            return Err(Unclear::new("a redirect has no single target"));
        };
        let copies = operator.ends_with('&')
            && target.plain().is_some_and(|it| {
                let digits = it.strip_suffix('-').unwrap_or(it);
                digits.chars().all(|digit| digit.is_ascii_digit())
            });
        if operator == "<&" && !copies {
            return Err(Unclear::new("it reads from a descriptor that is not a number"));
        }
        if !copies {
            self.script.redirects.push(Redirect { direction, target });
        }
        Ok(words.flatten().collect())
    }

    fn heredoc(&mut self, node: Node<'_>) -> Read<Vec<Word>> {
        let mut extra = Vec::new();
        let mut document = Document::default();
        for child in children(node) {
            match child.kind() {
                "file_descriptor" | "<<" | "&&" | "||" | "\n" | "" => {}
                "<<-" => document.tabs = Tabs::Stripped,
                "heredoc_start" => document.start = self.raw(child),
                "heredoc_body" => document.body = self.raw(child),
                "heredoc_end" => {
                    document.end = self.raw(child);
                    document.after = self.text.get(child.end_byte()..).unwrap_or_default();
                }
                "file_redirect" | "herestring_redirect" => extra.extend(self.redirect(child)?),
                "pipeline" => self.statements(child)?,
                _ if !child.is_named() && self.raw(child).trim().is_empty() => {}
                _ if node.child_by_field_name("right") == Some(child) => self.statement(child)?,
                _ if child.is_named() => extra.extend(self.word(child)?),
                other => return Err(Unclear::new(format!("its here-document has a `{other}`"))),
            }
        }
        document.check()?;
        self.script.has_document = true;
        Ok(extra)
    }

    fn assignment(&mut self, node: Node<'_>) -> Read<Assignment> {
        let named = node.child_by_field_name("name");
        let name = match named {
            Some(plain) if plain.kind() == "variable_name" => self.raw(plain).to_owned(),
            Some(subscript) => {
                self.nested(subscript)?;
                push_once(&mut self.script.hazards, "an array's index may run code");
                self.raw(subscript).split('[').next().unwrap_or_default().to_owned()
            }
            None => return Err(Unclear::new("an assignment has no name")),
        };
        let value = match node.child_by_field_name("value") {
            None => Word::exactly(""),
            Some(array) if array.kind() == "array" => {
                for item in children(array).into_iter().filter(Node::is_named) {
                    if self.raw(item).starts_with('[') {
                        return Err(Unclear::new("an array's index may run code"));
                    }
                    self.word(item)?;
                }
                Word::unknown(self.raw(array))
            }
            Some(value) => {
                let raw = self.raw(value);
                let mut words = self.word(value)?;
                if words.len() == 1 { words.remove(0) } else { Word::unknown(raw) }
            }
        };
        Ok(Assignment { name, value })
    }

    /// `declare`, `export`, `unset` and their kin, as commands.
    fn declaration(&mut self, node: Node<'_>) -> Read<()> {
        let mut simple = Simple::new(Vec::new());
        for child in children(node) {
            match child.kind() {
                "variable_assignment" => simple.assignments.push(self.assignment(child)?),
                "variable_name" => simple.words.push(Word::exactly(self.raw(child))),
                _ if !child.is_named() => simple.words.push(Word::exactly(self.raw(child))),
                _ => simple.words.extend(self.word(child)?),
            }
        }
        self.script.commands.push(simple);
        Ok(())
    }

    /// `[ … ]` and `[[ … ]]`, as a command with operands and operators for words.
    fn test(&mut self, node: Node<'_>) -> Read<()> {
        let after = self.text.get(node.end_byte()..).and_then(|text| text.chars().next());
        if after.is_some_and(|it| !it.is_whitespace() && !";&|)`<>".contains(it)) {
            return Err(Unclear::new("something touches a closing bracket"));
        }
        let mut words = Vec::new();
        self.test_words(node, &mut words, 0)?;
        let single = self.raw(node).starts_with("[ ") || !self.raw(node).starts_with("[[");
        if single && words.iter().any(|word| word.raw.starts_with(['<', '>', '(', ')'])) {
            return Err(Unclear::new("a `[` holds a redirect"));
        }
        self.script.commands.push(Simple::new(words));
        Ok(())
    }

    fn test_words(&mut self, node: Node<'_>, words: &mut Vec<Word>, depth: usize) -> Read<()> {
        refuse_depth(depth)?;
        for child in children(node) {
            match child.kind() {
                "unary_expression" | "binary_expression" | "parenthesized_expression" => {
                    self.test_words(child, words, depth + 1)?;
                }
                "test_operator" => words.push(Word::exactly(self.raw(child))),
                "regex" | "extglob_pattern" => {
                    self.nested(child)?;
                    if !expansion::is_plain_pattern(self.raw(child)) {
                        return Err(Unclear::new("a pattern may do more than match"));
                    }
                    words.push(Word::unknown(self.raw(child)));
                }
                _ if !child.is_named() => words.push(Word::exactly(self.raw(child))),
                _ => words.extend(self.word(child)?),
            }
        }
        Ok(())
    }

    /// `((…))`.
    fn arithmetic(&mut self, node: Node<'_>) -> Read<()> {
        let raw = self.raw(node);
        let inside = raw.strip_prefix("((").and_then(|it| it.strip_suffix("))"));
        self.evaluate(inside, node)
    }

    /// `$((…))`.
    fn arithmetic_expansion(&mut self, node: Node<'_>) -> Read<()> {
        let raw = self.raw(node);
        let inside = raw.strip_prefix("$((").and_then(|it| it.strip_suffix("))"));
        self.evaluate(inside, node)
    }

    /// The head of a `for ((…))`.
    fn arithmetic_parts(&mut self, node: Node<'_>) -> Read<()> {
        let body = node.child_by_field_name("body");
        for child in children(node) {
            if child.is_named() && body != Some(child) {
                self.evaluate(Some(self.raw(child)), child)?;
            }
        }
        Ok(())
    }

    /// The text of an expression with a digit for each command in it that gives a number.
    fn with_numbers(&mut self, text: &'t str, node: Node<'_>) -> Read<String> {
        let mut spelled = text.to_owned();
        let mut found = Vec::new();
        substitutions(node, &mut found, 0)?;
        for inner in found {
            if self.substitution(inner)? == Hole::Number {
                spelled = spelled.replace(self.raw(inner), "0");
            }
        }
        Ok(spelled)
    }

    /// Notes the variables of an expression, or that it may run something.
    fn evaluate(&mut self, text: Option<&'t str>, node: Node<'_>) -> Read<()> {
        let spelled = text.map(|text| self.with_numbers(text, node)).transpose()?;
        let Some(found) = spelled.as_deref().and_then(arithmetic::read) else {
            push_once(&mut self.script.hazards, EVALUATES);
            return self.nested(node);
        };
        for name in found.sets {
            let value = Word::number("");
            self.script.assignments.push(Assignment { name: name.to_owned(), value });
        }
        for name in found.updates {
            if !super::is_harmless_in_shell(name) {
                push_once(&mut self.script.hazards, "arithmetic sets a variable");
            }
            self.updated.push(name.to_owned());
        }
        self.evaluated.extend(found.reads.into_iter().map(str::to_owned));
        Ok(())
    }

    /// Walks the substitutions somewhere below a node; any that the grammar did not see is refused.
    fn nested(&mut self, node: Node<'_>) -> Read<()> {
        let mut found = Vec::new();
        substitutions(node, &mut found, 0)?;
        let mut seen = 0;
        for inner in &found {
            self.substitution(*inner)?;
            seen += count_openings(self.raw(*inner));
        }
        let raw = self.raw(node);
        let own = if raw.starts_with("$((") { "$((".len() } else { 0 };
        if count_openings(&raw[own..]) > seen {
            return Err(Unclear::new("it hides a command where none is expected"));
        }
        Ok(())
    }

    /// Reads the commands of a substitution; returns what they give.
    fn substitution(&mut self, node: Node<'_>) -> Read<Hole> {
        let raw = self.raw(node);
        if raw.starts_with('`') && raw.contains('\\') {
            return Err(Unclear::new("it has escapes inside backticks"));
        }
        for child in children(node).into_iter().filter(Node::is_named) {
            if child.kind() == "file_redirect" {
                let extra = self.redirect(child)?;
                refuse_extra(&extra)?;
            } else {
                self.statement(child)?;
            }
        }
        Ok(self.produced(node))
    }

    /// What a substitution gives that has just been read: the last command read is its last command, unless it
    /// holds more than one pipeline.
    fn produced(&self, node: Node<'_>) -> Hole {
        let statements: Vec<Node<'_>> = children(node).into_iter().filter(Node::is_named).collect();
        let [only] = statements.as_slice() else { return Hole::AnyWords };
        match only.kind() {
            "command" | "pipeline" => {}
            "redirected_statement" => {
                let body = only.child_by_field_name("body").map(|it| it.kind());
                if !matches!(body, Some("command" | "pipeline")) {
                    return Hole::AnyWords;
                }
            }
            _ => return Hole::AnyWords,
        }
        self.script.commands.last().map_or(Hole::AnyWords, produced::by)
    }
}

fn push_once(hazards: &mut Vec<&'static str>, hazard: &'static str) {
    if !hazards.contains(&hazard) {
        hazards.push(hazard);
    }
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

fn collect_leaves<'n>(node: Node<'n>, leaves: &mut Vec<Node<'n>>, depth: usize) -> Read<()> {
    refuse_depth(depth)?;
    if node.child_count() == 0 {
        leaves.push(node);
        return Ok(());
    }
    // A string's or here-document's own text has no leaf for its blanks and quotes.
    if matches!(node.kind(), "string" | "heredoc_body" | "concatenation") {
        leaves.push(node);
    }
    for child in children(node) {
        collect_leaves(child, leaves, depth + 1)?;
    }
    Ok(())
}

fn substitutions<'n>(node: Node<'n>, found: &mut Vec<Node<'n>>, depth: usize) -> Read<()> {
    refuse_depth(depth)?;
    for child in children(node) {
        match child.kind() {
            "command_substitution" | "process_substitution" => found.push(child),
            _ => substitutions(child, found, depth + 1)?,
        }
    }
    Ok(())
}

/// How often a text seems to open a substitution.
fn count_openings(text: &str) -> usize {
    ["$(", "`", "<(", ">("].iter().map(|opening| text.matches(opening).count()).sum()
}

fn refuse_extra(extra: &[Word]) -> Read<()> {
    if extra.is_empty() { Ok(()) } else { Err(Unclear::new("words follow a redirect's target")) }
}

/// Deeper trees than this are not written by hand, and would exhaust the stack.
fn refuse_depth(depth: usize) -> Read<()> {
    if depth < 200 { Ok(()) } else { Err(Unclear::new("it is nested too deep")) }
}
