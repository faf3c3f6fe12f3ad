//! Settings: typed sections, layered files, one definition for parser, schema, defaults and docs.

pub mod provider;
