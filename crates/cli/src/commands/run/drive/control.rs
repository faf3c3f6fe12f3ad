//! The conversation with the program at the other end of the pipes: what it wants, what we ask it.

use base::protocol::{Approval, Client, Op, Question, Scope};
use base::transcript::Call;
use base::{CallId, Event, RequestId};
use guard::rule::names;
use serde_json::{Value, json};
use tools::claude;

use super::super::flags;
use super::super::host::{Ask, Asked, Heard};
use super::Drive;

/// What the model hears when the host lets a question pass.
const NO_ANSWER: &str = "The user did not want to answer; decide yourself.";

impl Drive {
    /// Does what the host says.
    pub(super) async fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Prompt { parts, message } => {
                if self.plan.replays {
                    self.printer.replay(&message);
                }
                if let Some(host) = &mut self.plan.host {
                    host.prompts.push_back(parts);
                }
            }
            Heard::Control { id, ask } => {
                let response = match self.serve(ask).await {
                    Ok(response) => {
                        json!({ "subtype": "success", "request_id": id, "response": response })
                    }
                    Err(error) => json!({ "subtype": "error", "request_id": id, "error": error }),
                };
                self.printer.line(&json!({ "type": "control_response", "response": response }));
            }
            Heard::Answer { id, answer } => {
                let asked = self.plan.host.as_mut().and_then(|host| host.asked.remove(&id));
                if let Some(asked) = asked {
                    self.answered(asked, answer).await;
                }
            }
            Heard::Nothing => {}
        }
    }

    /// Does what the host wants and gives the answer to it.
    async fn serve(&mut self, ask: Ask) -> Result<Value, String> {
        let session = self.plan.session;
        match ask {
            Ask::Initialize { unsupported } if !unsupported.is_empty() => {
                Err(not_supported(&unsupported))
            }
            Ask::Initialize { .. } => Ok(json!({
                "commands": self.plan.found.commands.iter().map(|(name, hint, about)| {
                    json!({ "name": name, "description": about, "argumentHint": hint })
                }).collect::<Value>(),
                "agents": self.plan.found.agents.iter().map(|(name, about)| {
                    json!({ "name": name, "description": about })
                }).collect::<Value>(),
                "models": [{ "value": self.plan.model.to_string() }],
                "output_style": self.plan.found.style,
                "available_output_styles": self.plan.found.styles,
                "account": {},
            })),
            Ask::Interrupt => {
                if self.is_running {
                    self.is_called_off = true;
                    self.stop().await;
                }
                Ok(json!({}))
            }
            Ask::SetMode(name) => {
                let mode = flags::mode(&name)?;
                let set = self.coordinator.submit(Op::SetMode { session, mode }).await;
                set.map_err(|error| error.to_string())?;
                self.printer.set_mode(mode);
                Ok(json!({ "mode": name }))
            }
            Ask::SetModel(name) => {
                let model = match name {
                    Some(name) => (self.plan.find_model)(&name)?,
                    None => self.plan.model.clone(),
                };
                let set = self.coordinator.submit(Op::SetModel { session, model }).await;
                set.map(|()| json!({})).map_err(|error| error.to_string())
            }
            Ask::Unknown(name) => Err(format!("caiman does not serve `{name}`")),
        }
    }

    /// Asks the host what an event leaves to a person; takes a question back that nobody waits for any more.
    pub(super) fn ask_host(&mut self, event: &Event) {
        match event {
            Event::ApprovalNeeded { request, call, reason, rules, .. } => {
                let (tool, input) = match self.outcome.call(call) {
                    Some(call) => named(call, rules),
                    None => ("unknown".to_owned(), json!({})),
                };
                let asked = Asked::Approval { request: *request, input: input.clone() };
                let question = can_use_tool(*request, &tool, &input, (Some(call), reason));
                self.put_to_host(*request, asked, &question);
            }
            Event::QuestionAsked { request, questions, .. } => {
                let input = json!({ "questions": questions.iter().map(shown).collect::<Value>() });
                let asked = Asked::Questions { request: *request, questions: questions.clone() };
                let question = can_use_tool(*request, "AskUserQuestion", &input, (None, ""));
                self.put_to_host(*request, asked, &question);
            }
            Event::Settled { request, .. } => {
                let id = request.to_string();
                let open = self.plan.host.as_mut().and_then(|host| host.asked.remove(&id));
                if open.is_some() {
                    let line = json!({ "type": "control_cancel_request", "request_id": id });
                    self.printer.line(&line);
                }
            }
            Event::TurnStarted { .. }
            | Event::Appended { .. }
            | Event::Text { .. }
            | Event::Reasoning { .. }
            | Event::Retrying { .. }
            | Event::ToolStarted { .. }
            | Event::ToolProgress { .. }
            | Event::ToolDone { .. }
            | Event::ChildStarted { .. }
            | Event::Denied { .. }
            | Event::Spent { .. }
            | Event::SessionChanged { .. }
            | Event::Waiting { .. }
            | Event::CommandDone { .. }
            | Event::Hook { .. }
            | Event::Notice { .. }
            | Event::TurnDone { .. }
            | Event::TurnFailed { .. } => {}
        }
    }

    fn put_to_host(&mut self, request: RequestId, asked: Asked, question: &Value) {
        if let Some(host) = &mut self.plan.host {
            host.asked.insert(request.to_string(), asked);
            self.printer.line(question);
        }
    }

    /// Hands the host's answer to whoever waits for it.
    async fn answered(&mut self, asked: Asked, answer: Result<Value, String>) {
        let request = asked.request();
        let op = match asked {
            Asked::Approval { input, .. } => {
                Op::Approve { request, approval: approval(&input, &answer) }
            }
            Asked::Questions { questions, .. } => {
                Op::Answer { request, answers: answers(&questions, &answer) }
            }
        };
        // Whoever asked may have been stopped meanwhile.
        drop(self.coordinator.submit(op).await);
    }
}

/// Names each part of `initialize` that is not supported, with what does the same.
fn not_supported(parts: &[String]) -> String {
    let named = parts.iter().map(|part| {
        let instead = match part.as_str() {
            "hooks" => "hooks in the settings",
            "agents" => "--agents",
            "systemPrompt" => "--system-prompt",
            "appendSystemPrompt" => "--append-system-prompt",
            "sdkMcpServers" | "sdkMcpServerManifests" | "mcpServers" => "servers in --mcp-config",
            "skills" => "skill files",
            "outputFormat" | "jsonSchema" => "--json-schema",
            _ => return format!("`{part}`"),
        };
        format!("`{part}` (use {instead})")
    });
    let named: Vec<String> = named.collect();
    format!("initialize: caiman does not support {}", named.join(", "))
}

fn can_use_tool(
    request: RequestId,
    tool: &str,
    input: &Value,
    (call, reason): (Option<&CallId>, &str),
) -> Value {
    json!({
        "type": "control_request",
        "request_id": request,
        "request": {
            "subtype": "can_use_tool",
            "tool_name": tool,
            "input": input,
            "permission_suggestions": [],
            "decision_reason": reason,
            "tool_use_id": call,
        },
    })
}

/// The host's yes or no. A yes to other input than the call has cannot be kept, so it is a no.
fn approval(input: &Value, answer: &Result<Value, String>) -> Approval {
    let no = |instead: Option<&str>| Approval::Deny { instead: instead.map(str::to_owned) };
    let answer = match answer {
        Ok(answer) => answer,
        Err(why) => return no(Some(why)),
    };
    if answer["behavior"] != "allow" {
        return no(answer["message"].as_str());
    }
    let updated = &answer["updatedInput"];
    if !updated.is_null() && updated != input {
        return no(Some(
            "the input was changed, which cannot be done here; call it with that input",
        ));
    }
    Approval::Allow { scope: scope(&answer["updatedPermissions"]), rule: None }
}

/// How long a yes lasts: as long as the rule the host would add.
fn scope(updates: &Value) -> Scope {
    let updates = updates.as_array().map(Vec::as_slice).unwrap_or_default();
    let rule =
        updates.iter().find(|update| update["type"] == "addRules" && update["behavior"] == "allow");
    match rule.and_then(|rule| rule["destination"].as_str()) {
        Some("session") => Scope::Session,
        Some("projectSettings" | "localSettings") => Scope::Project,
        Some("userSettings") => Scope::Always,
        Some(_) | None => Scope::Once,
    }
}

/// A question as Claude Code's tool for it has it.
fn shown(question: &Question) -> Value {
    let options =
        question.choices.iter().map(|choice| json!({ "label": choice, "description": "" }));
    json!({
        "question": question.text,
        "header": "",
        "options": options.collect::<Value>(),
        "multiSelect": question.several,
    })
}

/// One text a question.
fn answers(questions: &[Question], answer: &Result<Value, String>) -> Vec<String> {
    let given = answer.as_ref().map(|answer| &answer["updatedInput"]["answers"]);
    let one = |question: &Question| {
        let text = given.ok().and_then(|given| given[&question.text].as_str());
        text.unwrap_or(NO_ANSWER).to_owned()
    };
    questions.iter().map(one).collect()
}

/// A call as Claude Code names it. Of a server's tool only the rule that would allow it has the whole name, and
/// `use_tool` holds its input.
fn named(call: &Call, rules: &[String]) -> (String, Value) {
    let input = &call.input.value;
    match rules.first().filter(|rule| rule.starts_with("mcp__")) {
        Some(rule) if call.name == tools::mcp::USE_TOOL => {
            (rule.clone(), input.get("input").cloned().unwrap_or_else(|| json!({})))
        }
        Some(rule) => (rule.clone(), claude::input(&call.name, input)),
        None => (names::claude(&call.name), claude::input(&call.name, input)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yes_lasts_as_long_as_the_rule_that_comes_with_it() {
        let input = json!({ "command": "ls" });
        let yes = |more: Value| {
            let mut answer = json!({ "behavior": "allow", "updatedInput": { "command": "ls" } });
            answer["updatedPermissions"] = more;
            approval(&input, &Ok(answer))
        };
        assert_eq!(yes(json!(null)), Approval::Allow { scope: Scope::Once, rule: None });
        let rule = json!([{ "type": "addRules", "behavior": "allow", "destination": "session" }]);
        assert_eq!(yes(rule), Approval::Allow { scope: Scope::Session, rule: None });
    }

    #[test]
    fn every_part_that_is_not_supported_is_named() {
        let parts = ["hooks", "agents", "x"].map(str::to_owned);
        let error = not_supported(&parts);
        assert!(error.contains("`hooks` (use hooks in the settings)"), "{error}");
        assert!(error.contains("`agents` (use --agents)") && error.contains("`x`"), "{error}");
    }

    #[test]
    fn whatever_is_not_a_plain_yes_is_a_no() {
        let input = json!({ "command": "ls" });
        for answer in [
            Err("gone".to_owned()),
            Ok(json!({})),
            Ok(json!({ "behavior": "deny", "message": "not now" })),
            Ok(json!({ "behavior": "allow", "updatedInput": { "command": "rm -rf /" } })),
        ] {
            let verdict = approval(&input, &answer);
            assert!(matches!(verdict, Approval::Deny { .. }), "{answer:?}: {verdict:?}");
        }
    }
}
