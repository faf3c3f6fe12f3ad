#![no_main]
#![allow(dead_code, reason = "each target runs one of the checks")]

#[path = "../../crates/llm/tests/it/parsers.rs"]
mod parsers;
#[path = "../../crates/llm/tests/it/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| parsers::wire(bytes));
