//! Where a request goes: one model at one provider, with everything settled that settings can say.

use std::collections::BTreeMap;

use base::transcript::Maker;
use base::{ModelRef, Secret};
use serde_json::{Map, Value};
use settings::provider::{Model, Network, Quirks, Wire};

/// A model at a provider, ready to be called. Made by [`crate::catalog`].
#[derive(Debug, Clone)]
pub struct Target {
    /// The provider's id.
    pub provider: String,
    /// The model's facts; `model.id` goes over the wire.
    pub model: Model,
    /// The format it speaks.
    pub wire: Wire,
    /// How it is reached.
    pub transport: Transport,
    /// Base URL without a slash at its end, such as `https://api.anthropic.com/v1`.
    pub base_url: String,
    /// The key.
    pub auth: Auth,
    /// More headers; an empty value removes one.
    pub headers: BTreeMap<String, String>,
    /// More body fields.
    pub extra_body: Map<String, Value>,
    /// The provider's quirks with the model's laid over them.
    pub quirks: Quirks,
    /// Text put before the system prompt.
    pub system_prompt_prefix: Option<String>,
    /// Tokens cost nothing.
    pub flat_rate: bool,
    /// Timeouts, proxy, certificates.
    pub network: Network,
}

impl Target {
    /// Who signs the sidecars this target makes.
    pub fn maker(&self) -> Maker {
        Maker {
            provider: self.provider.clone(),
            model: self.model.id.clone(),
            wire: self.wire.as_str().to_owned(),
        }
    }

    /// The model's reference.
    pub fn model_ref(&self) -> ModelRef {
        ModelRef::new(&self.provider, &self.model.id)
    }
}

/// How a provider is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Transport {
    /// Base URL plus the wire's path.
    Direct,
    /// Azure: deployments or the v1 surface, and an API version.
    Azure {
        /// The `api-version` to send; none uses the versionless v1 surface.
        api_version: Option<String>,
    },
    /// AWS Bedrock: invoke for Claude, Converse for the rest.
    Bedrock {
        /// The region, part of host and signature.
        region: String,
        /// The named profile of AWS's own files.
        profile: Option<String>,
        /// Command that renews expired credentials.
        refresh: Option<String>,
    },
    /// Google Cloud Vertex AI.
    Vertex {
        /// The project.
        project: String,
        /// The location, `global` included.
        location: String,
    },
    /// Nowhere: the script inside this binary answers.
    Demo,
}

/// How a request proves who sends it.
#[derive(Debug, Clone, PartialEq)]
pub enum Auth {
    /// It does not (local servers).
    Anonymous,
    /// `Authorization: Bearer …`.
    Bearer(Secret),
    /// A header of the provider's own, such as `x-api-key`.
    Header {
        /// The header's name.
        name: String,
        /// The key.
        value: Secret,
    },
    /// The cloud's own credentials: AWS `SigV4`, Google application default credentials.
    Cloud,
}

#[cfg(test)]
impl Target {
    /// A model for tests that can do everything, at a provider without a habit of its own.
    pub(crate) fn sample(wire: Wire) -> Self {
        Self {
            provider: "p".to_owned(),
            model: Model {
                id: "m".to_owned(),
                can_reason: true,
                supports_attachments: true,
                ..Model::default()
            },
            wire,
            transport: Transport::Direct,
            base_url: String::new(),
            auth: Auth::Anonymous,
            headers: BTreeMap::new(),
            extra_body: Map::new(),
            quirks: Quirks::default(),
            system_prompt_prefix: None,
            flat_rate: false,
            network: Network::default(),
        }
    }
}
