//! The catalogue's own files, embedded by `build.rs` and parsed no further than a caller needs.
//!
//! A start-up looks at the heads of a few files and at one model. Parsing all 1,500 models would cost
//! more than the rest of the start-up together, so a file is cut at its `[[models]]` lines, which
//! stand alone on a line and whose tables hold no tables of their own.

use settings::provider::{Model, Provider};

include!(concat!(env!("OUT_DIR"), "/catalog_files.rs"));

const MODEL_LINE: &str = "\n[[models]]\n";

/// One provider's file.
#[derive(Debug)]
pub(crate) struct File {
    /// The provider's id: the file's name.
    pub(crate) id: &'static str,
    text: &'static str,
}

/// Every file, best provider first.
pub(crate) fn files() -> &'static [File] {
    FILES
}

/// The file of one provider.
pub(crate) fn file(id: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.id == id)
}

impl File {
    /// What the file says of the provider, without its models.
    pub(crate) fn head(&self) -> Provider {
        let text = self.text.split(MODEL_LINE).next().unwrap_or_default();
        sound(self.id, toml::from_str(text))
    }

    /// All its models.
    pub(crate) fn models(&self) -> Vec<Model> {
        self.model_texts().map(|text| sound(self.id, toml::from_str(text))).collect()
    }

    /// One of its models.
    pub(crate) fn model(&self, id: &str) -> Option<Model> {
        let text = self.model_texts().find(|text| id_of(text) == Some(id))?;
        Some(sound(self.id, toml::from_str(text)))
    }

    /// The ids of its models, in the file's order.
    pub(crate) fn model_ids(&self) -> impl Iterator<Item = &'static str> {
        self.model_texts().filter_map(id_of)
    }

    fn model_texts(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.text.split(MODEL_LINE).skip(1)
    }
}

/// The id, which is the first line of a model's table.
fn id_of(text: &'static str) -> Option<&'static str> {
    text.lines().next()?.strip_prefix("id = \"")?.strip_suffix('"')
}

/// A test parses every file, so an error here means a broken build, not a user's mistake.
fn sound<T: Default>(id: &str, parsed: Result<T, toml::de::Error>) -> T {
    parsed.unwrap_or_else(|error| {
        tracing::error!(provider = id, %error, "the embedded catalogue is broken");
        T::default()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_file_parses_whole_and_in_pieces_to_the_same() {
        for file in files() {
            let whole: Provider = toml::from_str(file.text)
                .unwrap_or_else(|error| panic!("{}.toml: {error}", file.id));
            let pieces = Provider { models: file.models(), ..file.head() };
            assert_eq!(whole, pieces, "{}.toml", file.id);
            assert_eq!(file.model_ids().count(), whole.models.len(), "{}.toml", file.id);
            for model in &whole.models {
                assert_eq!(file.model(&model.id).as_ref(), Some(model), "{}.toml", file.id);
            }
        }
    }

    #[test]
    fn every_key_of_every_file_is_one_the_program_reads() {
        let model_keys: BTreeSet<String> = known_keys::<Model>();
        let head_keys: BTreeSet<String> = known_keys::<Provider>();
        for file in files() {
            let mut table: toml::Table = toml::from_str(file.text).unwrap();
            let models = table.remove("models");
            for key in table.keys().filter(|key| *key != "order") {
                assert!(head_keys.contains(key), "{}.toml: {key}", file.id);
            }
            for model in models.iter().flat_map(|models| models.as_array().unwrap()) {
                for key in model.as_table().unwrap().keys() {
                    assert!(model_keys.contains(key), "{}.toml: {key}", file.id);
                }
            }
        }
    }

    fn known_keys<T: schemars::JsonSchema>() -> BTreeSet<String> {
        let schema = schemars::schema_for!(T);
        schema.get("properties").unwrap().as_object().unwrap().keys().cloned().collect()
    }

    #[test]
    fn ids_are_unique_and_defaults_are_listed() {
        for file in files() {
            let ids: BTreeSet<_> = file.model_ids().collect();
            assert_eq!(ids.len(), file.model_ids().count(), "{}.toml repeats a model", file.id);
            let head = file.head();
            let defaults = [head.default_large_model_id, head.default_small_model_id];
            for id in defaults.into_iter().flatten() {
                assert!(ids.contains(id.as_str()), "{}.toml: default {id} is missing", file.id);
            }
        }
    }

    #[test]
    fn the_best_known_providers_come_first_and_the_demo_last() {
        let ids: Vec<_> = files().iter().map(|file| file.id).collect();
        assert_eq!(ids.first(), Some(&"anthropic"));
        assert_eq!(ids.last(), Some(&"demo"));
    }
}
