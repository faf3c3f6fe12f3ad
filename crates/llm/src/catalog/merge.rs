//! Laying settings over the catalogue, field by field.
//!
//! A number that is zero, a list that is empty and a flag that is false count as not set: a user adds
//! to what the catalogue knows of a model, and replaces it by defining a provider of their own.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use settings::provider::{Model, Provider, Sampling};

/// `below` with everything `over` sets. The models are those of `over`.
pub(super) fn provider(below: Provider, over: &Provider) -> Provider {
    let mut provider = below;
    let set = over.clone();
    lay(&mut provider.name, set.name);
    lay(&mut provider.kind, set.kind);
    lay(&mut provider.wire, set.wire);
    lay(&mut provider.base_url, set.base_url);
    lay(&mut provider.api_key, set.api_key);
    lay_list(&mut provider.key_variables, set.key_variables);
    lay(&mut provider.base_url_variable, set.base_url_variable);
    lay(&mut provider.system_prompt_prefix, set.system_prompt_prefix);
    lay_headers(&mut provider.extra_headers, set.extra_headers);
    lay_body(&mut provider.extra_body, set.extra_body);
    lay_body(&mut provider.provider_options, set.provider_options);
    lay(&mut provider.discover_models, set.discover_models);
    lay(&mut provider.region, set.region);
    lay(&mut provider.project, set.project);
    lay(&mut provider.api_version, set.api_version);
    lay(&mut provider.profile, set.profile);
    lay(&mut provider.aws_auth_refresh, set.aws_auth_refresh);
    lay(&mut provider.default_large_model_id, set.default_large_model_id);
    lay(&mut provider.default_small_model_id, set.default_small_model_id);
    provider.disable |= set.disable;
    provider.flat_rate |= set.flat_rate;
    provider.quirks = provider.quirks.overlaid(&set.quirks);
    provider.network = provider.network.overlaid(&set.network);
    provider.models = set.models;
    provider
}

/// `below` with everything `over` sets.
pub(super) fn model(below: Model, over: &Model) -> Model {
    let mut model = below;
    let set = over.clone();
    lay(&mut model.name, set.name);
    lay_number(&mut model.context_window, set.context_window);
    lay_number(&mut model.default_max_tokens, set.default_max_tokens);
    lay_price(&mut model.cost_per_1m_in, set.cost_per_1m_in);
    lay_price(&mut model.cost_per_1m_out, set.cost_per_1m_out);
    lay_price(&mut model.cost_per_1m_in_cached, set.cost_per_1m_in_cached);
    lay_price(&mut model.cost_per_1m_out_cached, set.cost_per_1m_out_cached);
    model.can_reason |= set.can_reason;
    lay_list(&mut model.reasoning_levels, set.reasoning_levels);
    lay(&mut model.default_reasoning_effort, set.default_reasoning_effort);
    model.supports_attachments |= set.supports_attachments;
    lay(&mut model.wire, set.wire);
    model.options = sampling(model.options, set.options);
    model.quirks = model.quirks.overlaid(&set.quirks);
    model.id = set.id;
    model
}

/// `first` in their order, each laid over its namesake of `rest`, then the rest of `rest`.
pub(super) fn models_first(first: &[Model], rest: Vec<Model>) -> Vec<Model> {
    let mut rest: Vec<Option<Model>> = rest.into_iter().map(Some).collect();
    let mut models = Vec::with_capacity(first.len() + rest.len());
    for over in first {
        let namesake =
            rest.iter_mut().find(|below| below.as_ref().is_some_and(|below| below.id == over.id));
        let below = namesake.and_then(Option::take).unwrap_or_default();
        models.push(model(below, over));
    }
    models.extend(rest.into_iter().flatten());
    models
}

/// The catalogue's models, completed by what was seen of them, then those only seen.
pub(super) fn models(catalogue: Vec<Model>, seen: Vec<Model>) -> Vec<Model> {
    // A map, because gateways list hundreds on both sides.
    let mut seen_by_id: BTreeMap<String, (usize, Model)> =
        seen.into_iter().enumerate().map(|(at, model)| (model.id.clone(), (at, model))).collect();
    let mut models: Vec<Model> = catalogue
        .into_iter()
        .map(|known| match seen_by_id.remove(&known.id) {
            Some((_, seen)) => model(seen, &known),
            None => known,
        })
        .collect();
    let mut new: Vec<(usize, Model)> = seen_by_id.into_values().collect();
    new.sort_by_key(|(at, _)| *at);
    models.extend(new.into_iter().map(|(_, model)| model));
    models
}

fn sampling(below: Sampling, over: Sampling) -> Sampling {
    let mut provider_options = below.provider_options;
    lay_body(&mut provider_options, over.provider_options);
    Sampling {
        temperature: over.temperature.or(below.temperature),
        top_p: over.top_p.or(below.top_p),
        top_k: over.top_k.or(below.top_k),
        frequency_penalty: over.frequency_penalty.or(below.frequency_penalty),
        presence_penalty: over.presence_penalty.or(below.presence_penalty),
        provider_options,
    }
}

fn lay<T>(below: &mut Option<T>, over: Option<T>) {
    if over.is_some() {
        *below = over;
    }
}

fn lay_list<T>(below: &mut Vec<T>, over: Vec<T>) {
    if !over.is_empty() {
        *below = over;
    }
}

fn lay_number(below: &mut u64, over: u64) {
    if over != 0 {
        *below = over;
    }
}

fn lay_price(below: &mut f64, over: f64) {
    if over > 0.0 {
        *below = over;
    }
}

/// Header names are the same in any case, so `authorization` replaces `Authorization`.
fn lay_headers(below: &mut BTreeMap<String, String>, over: BTreeMap<String, String>) {
    for (name, value) in over {
        below.retain(|known, _| !known.eq_ignore_ascii_case(&name));
        below.insert(name, value);
    }
}

/// Objects merge; everything else is replaced.
pub(super) fn lay_body(below: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (below.get_mut(&key), value) {
            (Some(Value::Object(below)), Value::Object(over)) => lay_body(below, over),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}
