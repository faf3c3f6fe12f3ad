//! From a name to a target.

use base::ModelRef;
use settings::provider::{Model, ProviderKind, Wire};

use super::embedded::File;
use super::endpoint::wire_of;
use super::{Catalog, Known, ModelEntry, ResolveError, merge, near};
use crate::target::Target;

impl Catalog {
    /// Understands what a user wrote for a model: `provider/model`, or a model's id alone if exactly
    /// one provider that is set up has it.
    pub fn find(&self, text: &str) -> Result<ModelRef, ResolveError> {
        if let Ok(named) = text.parse::<ModelRef>() {
            match self.known(&named.provider) {
                // The id of a model may hold slashes too.
                Err(unknown @ ResolveError::UnknownProvider { .. }) => {
                    return self.find_alone(text).map_err(|_| unknown);
                }
                Err(other) => return Err(other),
                Ok(_) => return Ok(named),
            }
        }
        self.find_alone(text)
    }

    /// Settles everything about a model. A model nobody listed is allowed: providers add some daily.
    pub fn resolve(&self, model: &ModelRef) -> Result<Target, ResolveError> {
        let known = self.known(&model.provider)?;
        let mut facts = self.facts(&known, &model.model);
        let mut options = known.provider.provider_options.clone();
        merge::lay_body(&mut options, std::mem::take(&mut facts.options.provider_options));
        facts.options.provider_options = options;
        let wire = wire_for(&known, &facts);
        let endpoint = self.endpoint_on(&known, wire)?;
        let provider = known.provider;
        Ok(Target {
            provider: model.provider.clone(),
            wire,
            transport: endpoint.transport,
            base_url: endpoint.base_url,
            auth: endpoint.auth,
            headers: endpoint.headers,
            extra_body: provider.extra_body,
            quirks: provider.quirks.overlaid(&facts.quirks),
            system_prompt_prefix: provider.system_prompt_prefix,
            flat_rate: provider.flat_rate,
            network: endpoint.network,
            model: facts,
        })
    }

    /// What is known of a model, whether or not it can be used.
    pub fn entry(&self, model: &ModelRef) -> Result<ModelEntry, ResolveError> {
        let known = self.known(&model.provider)?;
        let facts = self.facts(&known, &model.model);
        let flat_rate = known.provider.flat_rate;
        Ok(ModelEntry { provider: model.provider.clone(), model: facts, flat_rate })
    }

    /// Models with names like this one's, for a provider that does not know it.
    pub fn similar(&self, model: &ModelRef) -> Vec<ModelRef> {
        let models = self.models(&model.provider).unwrap_or_default();
        let ids = models.iter().map(|entry| entry.model.id.as_str());
        let near = near::nearest(&model.model, ids.filter(|id| *id != model.model));
        near.into_iter().map(|id| ModelRef::new(&model.provider, id)).collect()
    }

    fn find_alone(&self, id: &str) -> Result<ModelRef, ResolveError> {
        let usable: Vec<Known<'_>> = self
            .ids()
            .into_iter()
            .filter_map(|provider| self.known(provider).ok())
            .filter(|known| known.kind() != ProviderKind::Demo && self.access(known).is_given())
            .collect();
        let found: Vec<ModelRef> = usable
            .iter()
            .filter_map(|known| Some(ModelRef::new(known.id, self.listed_id(known, id)?)))
            .collect();
        match found.as_slice() {
            [one] => Ok(one.clone()),
            [] => Err(self.unknown_model(id, &usable)),
            _ => Err(ResolveError::Ambiguous { model: id.to_owned(), found }),
        }
    }

    /// The id as the provider writes it, if the model is listed.
    fn listed_id(&self, known: &Known<'_>, id: &str) -> Option<String> {
        let is_it = |listed: &str| listed.eq_ignore_ascii_case(id);
        let of_settings = || known.provider.models.iter().find(|model| is_it(&model.id));
        let of_file = || known.file?.model_ids().find(|listed| is_it(listed));
        let of_seen = || self.seen_models(known).into_iter().find(|model| is_it(&model.id));
        of_settings()
            .map(|model| model.id.clone())
            .or_else(|| of_file().map(str::to_owned))
            .or_else(|| of_seen().map(|model| model.id))
    }

    fn unknown_model(&self, id: &str, usable: &[Known<'_>]) -> ResolveError {
        let mut names = Vec::new();
        for known in usable {
            let listed = self.models(known.id).unwrap_or_default();
            names.extend(
                listed.into_iter().map(|entry| (entry.model.id.clone(), entry.model_ref())),
            );
        }
        let near_ids = near::nearest(id, names.iter().map(|(id, _)| id.as_str()));
        let in_full = |near: &String| {
            let (_, model) = names.iter().find(|(id, _)| id == near)?;
            Some(model.to_string())
        };
        let near = near_ids.iter().filter_map(in_full).collect();
        ResolveError::UnknownModel { model: id.to_owned(), near }
    }

    /// Everything known of one model, without parsing all the others.
    fn facts(&self, known: &Known<'_>, id: &str) -> Model {
        let same = |model: &&Model| model.id.eq_ignore_ascii_case(id);
        let of_settings = known.provider.models.iter().find(same);
        let listed = known.file.and_then(|file| {
            let exact = file.model(id);
            exact.or_else(|| {
                file.model(file.model_ids().find(|known| known.eq_ignore_ascii_case(id))?)
            })
        });
        let below = listed.or_else(|| {
            let seen = self.seen_models(known).into_iter().find(|model| same(&model))?;
            Some(with_manners_of(known.file.and_then(|file| relative(file, id)), seen))
        });
        match (below, of_settings) {
            (Some(below), Some(over)) => merge::model(below, over),
            (Some(below), None) => below,
            (None, Some(own)) => {
                with_manners_of(known.file.and_then(|file| relative(file, id)), own.clone())
            }
            (None, None) => unlisted(known.file.and_then(|file| relative(file, id)), id),
        }
    }
}

/// The wire a model speaks: its own, its provider's, or what its kind of provider usually speaks.
fn wire_for(known: &Known<'_>, model: &Model) -> Wire {
    let kind = known.kind();
    let is_cloud = kind == ProviderKind::Bedrock || kind == ProviderKind::GoogleVertex;
    let usual = if is_cloud && model.id.contains("claude") {
        // The clouds serve Claude in Anthropic's own words.
        Wire::AnthropicMessages
    } else if kind == ProviderKind::Azure && known.provider.api_version.is_some() {
        // Only the versionless surface is sure to have Responses.
        Wire::OpenaiChat
    } else {
        wire_of(kind)
    };
    model.wire.or(known.provider.wire).unwrap_or(usual)
}

/// The listed model whose name begins most like `id`'s: `claude-opus-5` for a new `claude-opus-6`.
fn relative(file: &File, id: &str) -> Option<Model> {
    /// Less in common says nothing: `gpt-` is enough, `us.` is not.
    const LEAST: usize = 4;
    let mut best: Option<(usize, &str)> = None;
    for listed in file.model_ids() {
        let length = common_words(bare(id), bare(listed));
        // Files list new models first, and a new one is more likely to be like one newer still.
        if length >= LEAST && best.is_none_or(|(most, _)| length > most) {
            best = Some((length, listed));
        }
    }
    file.model(best?.1)
}

/// Clouds put regions before a Claude's name: `global.anthropic.claude-opus-5`.
fn bare(id: &str) -> &str {
    id.find("claude").map_or(id, |at| &id[at..])
}

/// How many letters of whole words both ids begin with.
fn common_words(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    if same == a.len() && same == b.len() {
        return same;
    }
    let is_break = |byte: &u8| !byte.is_ascii_alphanumeric();
    a.as_bytes()[..same].iter().rposition(is_break).map_or(0, |at| at + 1)
}

/// `model` with the wire and quirks of its relative where it has none of its own.
fn with_manners_of(relative: Option<Model>, mut model: Model) -> Model {
    if let Some(relative) = relative {
        model.wire = model.wire.or(relative.wire);
        model.quirks = relative.quirks.overlaid(&model.quirks);
    }
    model
}

/// A model nobody listed: it behaves like its relative, but its size and price are unknown.
fn unlisted(relative: Option<Model>, id: &str) -> Model {
    let relative = relative.unwrap_or_default();
    Model {
        id: id.to_owned(),
        can_reason: relative.can_reason,
        reasoning_levels: relative.reasoning_levels,
        default_reasoning_effort: relative.default_reasoning_effort,
        supports_attachments: relative.supports_attachments,
        wire: relative.wire,
        quirks: relative.quirks,
        ..Model::default()
    }
}
