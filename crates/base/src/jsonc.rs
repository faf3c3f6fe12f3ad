//! JSON with comments and trailing commas, for files that people write.

use serde::de::DeserializeOwned;

/// Why a text is not what it should be.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct JsoncError(String);

/// Reads a value.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, JsoncError> {
    jsonc_parser::parse_to_serde_value(text, &jsonc_parser::ParseOptions::default())
        .map_err(|error| JsoncError(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_read_over() {
        let list: Vec<u8> = read("// two\n[1, /* and */ 2,]").unwrap();
        assert_eq!(list, [1, 2]);
        assert!(read::<Vec<u8>>("[1").is_err());
    }
}
