//! A session that changes its model: whatever was said on one wire goes on on every other.

mod everywhere;
mod over_http;
