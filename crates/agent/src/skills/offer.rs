//! What a session's prompts say of skills. The list stands in the prefix; once a session has begun, a
//! change is told with the next prompt instead, so that the prefix stays what it was.

use std::sync::Arc;

use base::{Entry, EntryKind, Origin, Part, PartBody, transcript};
use settings::definition::{Definitions, Skill, Style};

use guard::rule::{Kind, Reading};
use guard::{Rule, Spot};
use store::StoreError;

use super::{TOOL, is_for_model, listing, named_files};
use crate::session::Session;
use crate::toolset;

/// The tool that shows a file.
const READER: &str = "view";

impl Session {
    /// The definitions that can be found from the session's folder, now, and the skills of folders below it
    /// that it has come to.
    pub(crate) fn definitions(&self) -> Arc<Definitions> {
        self.book.definitions(self.workspace.fence.folder())
    }

    /// Whether the model is offered the tool that loads skills: once it was, it stays. What is found below on the
    /// way does not change the tools.
    pub(crate) fn offers_skills(&self) -> bool {
        let was_offered = || {
            let (_, tools) = self.prefix().unwrap_or_default();
            tools.iter().any(|tool| tool.name == TOOL)
        };
        let own = || self.mind.shelf.look(self.workspace.fence.folder());
        was_offered() || own().skills.iter().any(is_for_model)
    }

    /// The list for the system prompt; none where the tool is not offered.
    pub(crate) fn skill_segment(&self) -> Option<String> {
        let is_wanted = toolset::includes(&self.options.tools, TOOL);
        let disabled = &self.mind.config.options.disabled_tools;
        let is_there = self.mind.registry.get(TOOL).is_some();
        if !is_wanted || !is_there || disabled.iter().any(|name| name == TOOL) {
            return None;
        }
        let definitions = self.definitions();
        listing::segment(&self.due(&definitions))
    }

    /// What the next prompt must say of skills; none while the model knows, or does not use them. `before`
    /// is what comes between the branch and the prompt.
    pub(crate) fn skill_news(&self, before: &[Entry]) -> Option<Part> {
        let (system, tools) = transcript::prefix(before).or_else(|| self.prefix())?;
        let is_offered = |name: &str| tools.iter().any(|tool| tool.name == name);
        let definitions = self.definitions();
        let text = if is_offered(TOOL) {
            listing::news(&self.due(&definitions), system, &self.branch)?
        } else if is_offered(READER) {
            listing::nearby(&self.nearby(&definitions), &self.branch)?
        } else {
            return None;
        };
        Some(Part::new(PartBody::Text { text }, Origin::System))
    }

    /// Tells the model, in the middle of a turn, of skills it has come upon.
    pub(crate) async fn say_found_skills(&mut self) -> Result<(), StoreError> {
        if !self.book.has_found_more() {
            return Ok(());
        }
        let Some(part) = self.skill_news(&[]) else { return Ok(()) };
        let entry = self.entry(EntryKind::User { parts: vec![part] });
        self.append(vec![entry]).await
    }

    /// The skills of folders below.
    fn nearby<'d>(&self, definitions: &'d Definitions) -> Vec<&'d Skill> {
        let below = self.book.below();
        let is_below = |skill: &&Skill| below.iter().any(|level| skill.folder.starts_with(level));
        self.due(definitions).into_iter().filter(is_below).collect()
    }

    /// The skills that are offered now: those about certain files only once one of these was touched.
    fn due<'d>(&self, definitions: &'d Definitions) -> Vec<&'d Skill> {
        let is_about_files = |skill: &&Skill| !skill.paths.is_empty();
        let is_any = definitions.skills.iter().any(|skill| is_about_files(&skill));
        let touched = if is_any { self.touched() } else { Vec::new() };
        let concerns = |skill: &&Skill| {
            let rules =
                skill.paths.iter().filter_map(|path| Rule::parse(&format!("Read({path})")).ok());
            let rules: Vec<Rule> = rules.collect();
            touched.iter().any(|spot| rules.iter().any(|rule| self.covers(rule, spot)))
        };
        let skills = definitions.skills.iter();
        skills.filter(|skill| !is_about_files(skill) || concerns(skill)).collect()
    }

    fn covers(&self, rule: &Rule, spot: &Spot) -> bool {
        rule.covers_place(Kind::Read, spot, &self.workspace.fence, Reading::Wide)
    }

    /// The files that calls of the session have named.
    fn touched(&self) -> Vec<Spot> {
        let named = self.branch.iter().flat_map(named_files);
        named.filter_map(|path| self.workspace.fence.locate(path).ok()).collect()
    }

    /// The name of the style the session was asked to answer in.
    pub(crate) fn style_name(&self) -> &str {
        let own = self.options.output_style.as_deref();
        own.or(self.mind.config.options.output_style.as_deref()).unwrap_or("default")
    }

    /// The output style of new prompts; none for our own.
    pub(crate) fn style(&self) -> Option<Style> {
        let name = self.style_name();
        if name.eq_ignore_ascii_case("default") {
            return None;
        }
        let found = self.definitions().style(name).cloned();
        if found.is_none() {
            self.say_notice(&format!(
                "There is no output style `{name}`; the default one is used."
            ));
        }
        found
    }
}
