//! Whatever a provider answers, there is an error to show.

use llm::Error;
use proptest::prelude::*;
use reqwest::header::HeaderMap;

proptest! {
    #[test]
    fn any_body_at_all_gives_a_bounded_error(
        status in any::<u16>(),
        body in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..200),
            "\\{\"error\":(\"[^\"]{0,80}\"|\\{\"message\":\"[a-z :0-9]{0,80}\"\\})\\}".prop_map(String::into_bytes),
            "(<html>|retry after |try again in )\\PC{0,60}".prop_map(String::into_bytes),
        ],
    ) {
        let error = Error::from_response(status, &HeaderMap::new(), &body);
        prop_assert!(!error.message.is_empty());
        prop_assert!(error.message.chars().count() <= 1_001);
        prop_assert!(!error.message.chars().any(char::is_control));
    }
}
