//! Asks a server for all that it lends, page by page, and not without end.

use std::time::Duration;

use rmcp::model::{
    ClientRequest, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest,
    ListToolsRequest, PaginatedRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::connection::{Connection, Failure};
use super::menu::{Argument, ITEMS, Menu, Prompt, Resource, Tool};
use super::wire::EXECUTION;

/// Pages of a list that are asked for.
const PAGES: usize = 100;
/// How long all lists may take; each request has a time-out of its own.
const LONGEST: Duration = Duration::from_mins(1);

/// What a server lends.
pub(super) async fn menu(connection: &Connection) -> Result<Menu, Failure> {
    let listing = tokio::time::timeout(LONGEST, listed(connection)).await;
    listing.unwrap_or(Err(Failure::TimedOut { after: LONGEST }))
}

async fn listed(connection: &Connection) -> Result<Menu, Failure> {
    let about = connection.about();
    let mut menu = Menu {
        instructions: about.instructions.clone(),
        has_resources: about.has_resources,
        ..Menu::default()
    };
    if about.has_tools {
        let pages = Pages { connection, key: "tools" };
        let request = |page| {
            ClientRequest::ListToolsRequest(ListToolsRequest { params: page, ..Default::default() })
        };
        menu.tools = pages.all(request).await?.into_iter().map(tool).collect();
    }
    if about.has_prompts {
        let pages = Pages { connection, key: "prompts" };
        let request = |page| {
            ClientRequest::ListPromptsRequest(ListPromptsRequest {
                params: page,
                ..Default::default()
            })
        };
        let prompts = pages.known(request).await?;
        menu.prompts = prompts.into_iter().map(prompt).collect();
    }
    if about.has_resources {
        let pages = Pages { connection, key: "resources" };
        let request = |page| {
            ClientRequest::ListResourcesRequest(ListResourcesRequest {
                params: page,
                ..Default::default()
            })
        };
        let plain = pages.known(request).await?;
        menu.resources = plain.into_iter().map(resource).collect();
        let pages = Pages { connection, key: "resourceTemplates" };
        let request = |page| {
            ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest {
                params: page,
                ..Default::default()
            })
        };
        let patterns = pages.known(request).await?;
        menu.resources.extend(patterns.into_iter().map(pattern));
    }
    Ok(menu.bounded())
}

/// A list that comes in pages.
struct Pages<'a> {
    connection: &'a Connection,
    key: &'static str,
}

impl Pages<'_> {
    /// All items that can be read; one that cannot spoils no other.
    async fn all<T: DeserializeOwned>(
        &self,
        request: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
    ) -> Result<Vec<T>, Failure> {
        let (mut items, mut cursor) = (Vec::new(), None::<String>);
        for _ in 0..PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor.clone());
            let result = self.connection.list(request(Some(page))).await?;
            let mut result = serde_json::to_value(result).unwrap_or_default();
            let page = result.get_mut(self.key).map(Value::take);
            let page = page.and_then(|page| match page {
                Value::Array(page) => Some(page),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Object(_) => None,
            });
            let page = page.unwrap_or_default();
            items.extend(page.into_iter().filter_map(|item| serde_json::from_value(item).ok()));
            let next = result.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            if next.is_none() || next == cursor {
                return Ok(items);
            }
            if items.len() > ITEMS {
                break;
            }
            cursor = next;
        }
        self.connection.note(&format!(
            "it has more {} than anybody can use; the others are left out",
            self.key
        ));
        Ok(items)
    }

    /// The same for what is not so important that the server would count as broken, as long as it is there.
    async fn known<T: DeserializeOwned>(
        &self,
        request: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
    ) -> Result<Vec<T>, Failure> {
        match self.all(request).await {
            Err(failure) if !self.connection.is_ending() => {
                self.connection.note(&format!("its {} are not known: {failure}", self.key));
                Ok(Vec::new())
            }
            listed => listed,
        }
    }
}

fn tool(tool: rmcp::model::Tool) -> Tool {
    let annotations = tool.annotations.as_ref();
    let execution = tool.meta.as_ref().and_then(|meta| meta.0.get(EXECUTION));
    let support = execution.and_then(|execution| execution.get("taskSupport")?.as_str());
    let title = tool.title.or_else(|| annotations.and_then(|it| it.title.clone()));
    let description = tool.description.map(std::borrow::Cow::into_owned);
    Tool {
        description: description.filter(|it| !it.is_empty()).or(title).unwrap_or_default(),
        is_task: support == Some("required"),
        says_it_reads: annotations.and_then(|it| it.read_only_hint) == Some(true),
        schema: Value::Object((*tool.input_schema).clone()),
        name: tool.name.into_owned(),
    }
}

fn prompt(prompt: rmcp::model::Prompt) -> Prompt {
    let argument = |argument: rmcp::model::PromptArgument| Argument {
        name: argument.name,
        description: argument.description.or(argument.title).unwrap_or_default(),
        required: argument.required == Some(true),
    };
    Prompt {
        name: prompt.name,
        description: prompt.description.or(prompt.title).unwrap_or_default(),
        arguments: prompt.arguments.unwrap_or_default().into_iter().map(argument).collect(),
    }
}

fn resource(resource: rmcp::model::Resource) -> Resource {
    Resource {
        uri: resource.uri,
        name: resource.title.unwrap_or(resource.name),
        description: resource.description.unwrap_or_default(),
        media_type: resource.mime_type,
        is_pattern: false,
    }
}

fn pattern(pattern: rmcp::model::ResourceTemplate) -> Resource {
    Resource {
        uri: pattern.uri_template,
        name: pattern.title.unwrap_or(pattern.name),
        description: pattern.description.unwrap_or_default(),
        media_type: pattern.mime_type,
        is_pattern: true,
    }
}
