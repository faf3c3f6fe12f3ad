#![no_main]
#![allow(dead_code, reason = "each target runs one of the checks")]

#[path = "../../crates/settings/tests/it/parsers.rs"]
mod parsers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| parsers::front_matter(bytes));
