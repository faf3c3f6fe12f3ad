//! Anthropic Messages.

use serde_json::Map;

use super::{Decode, Encoded, StreamEvent};
use crate::delta::Delta;
use crate::error::Error;
use crate::request::Request;
use crate::target::Target;

pub(super) fn encode(_request: &Request, _target: &Target) -> Encoded {
    Encoded { path: String::new(), headers: Vec::new(), body: Map::new() }
}

pub(super) struct Decoder;

impl Decoder {
    pub(super) fn new(_target: &Target) -> Self {
        Self
    }
}

impl Decode for Decoder {
    fn event(&mut self, _event: StreamEvent<'_>, _out: &mut Vec<Delta>) -> Result<(), Error> {
        Ok(())
    }

    fn whole(&mut self, _body: &[u8], _out: &mut Vec<Delta>) -> Result<(), Error> {
        Ok(())
    }

    fn end(&mut self, _out: &mut Vec<Delta>) -> Result<(), Error> {
        Err(Error::truncated())
    }
}
