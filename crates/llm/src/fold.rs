//! Deltas to the parts of a message. Pure: same deltas in, same parts out.

use std::time::Duration;

use base::model::{Money, StopReason, Usage};
use base::transcript::{Call, Maker, Native, Origin, Part, PartBody};
use serde_json::Value;

use crate::delta::{Delta, Opening};
use crate::repair;

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What the model said, thought and called, in its own order.
    pub parts: Vec<Part>,
    /// Why it stopped; none if it has not.
    pub stop: Option<StopReason>,
    /// Tokens.
    pub usage: Usage,
    /// What the provider says it cost.
    pub cost: Option<Money>,
    /// The provider's id of the answer.
    pub response_id: Option<String>,
    /// The model that really answered, where the provider tells.
    pub model: Option<String>,
}

/// Collects deltas. Ask for [`Fold::answer`] at any time: a cut stream yields what had come.
#[derive(Debug, Clone)]
pub struct Fold {
    maker: Maker,
    open: Vec<Slot>,
    answer: Answer,
}

#[derive(Debug, Clone)]
struct Slot {
    opening: Opening,
    text: String,
    sidecar: Option<Value>,
    took: Option<Duration>,
}

impl Fold {
    /// Starts with nothing; sidecars will be signed by `maker`.
    pub fn new(maker: Maker) -> Self {
        let answer = Answer {
            parts: Vec::new(),
            stop: None,
            usage: Usage::default(),
            cost: None,
            response_id: None,
            model: None,
        };
        Self { maker, open: Vec::new(), answer }
    }

    /// Takes the next delta. Deltas for parts that never began are dropped.
    pub fn push(&mut self, delta: Delta) {
        match delta {
            Delta::Started { id, model } => {
                self.answer.response_id = id.or(self.answer.response_id.take());
                self.answer.model = model.or(self.answer.model.take());
            }
            Delta::Open { opening, .. } => {
                self.open.push(Slot { opening, text: String::new(), sidecar: None, took: None });
            }
            Delta::More { part, text } => {
                if let Some(slot) = self.open.get_mut(part) {
                    slot.text.push_str(&text);
                }
            }
            Delta::Sidecar { part, data } => {
                if let Some(slot) = self.open.get_mut(part) {
                    slot.sidecar = Some(data);
                }
            }
            Delta::Usage(usage) => self.answer.usage = usage,
            Delta::Cost(cost) => self.answer.cost = Some(cost),
            Delta::Stop(stop) => self.answer.stop = Some(stop),
        }
    }

    /// Notes how long a part took to come, if it is a thought.
    pub fn note_time(&mut self, part: usize, took: Duration) {
        if let Some(slot) = self.open.get_mut(part) {
            slot.took = Some(took).filter(|_| slot.opening == Opening::Reasoning);
        }
    }

    /// The answer so far. Text and thoughts that are empty and carry no sidecar are left out.
    pub fn answer(&self) -> Answer {
        let parts = self.open.iter().filter_map(|slot| self.part(slot)).collect();
        Answer { parts, ..self.answer.clone() }
    }

    /// A call whose arguments are a whole JSON object already, whatever else is still to come.
    pub fn whole_call(&self, part: usize) -> Option<Call> {
        let slot = self.open.get(part)?;
        let Opening::Call { id, name } = &slot.opening else { return None };
        let input = repair::call_input(&slot.text);
        input.mended.is_none().then(|| Call { id: id.clone(), name: name.clone(), input })
    }

    fn part(&self, slot: &Slot) -> Option<Part> {
        let text = || slot.text.clone();
        let body = match &slot.opening {
            Opening::Text | Opening::Reasoning
                if slot.text.is_empty() && slot.sidecar.is_none() =>
            {
                return None;
            }
            Opening::Text => PartBody::Text { text: text() },
            Opening::Reasoning => PartBody::Reasoning { text: text() },
            Opening::Call { id, name } => PartBody::Call(Call {
                id: id.clone(),
                name: name.clone(),
                input: repair::call_input(&slot.text),
            }),
            Opening::File(file) => PartBody::File(file.clone()),
            Opening::Opaque { label } => PartBody::Opaque { label: label.clone() },
        };
        let native = |data: &Value| Native { maker: self.maker.clone(), data: data.clone() };
        let native = slot.sidecar.as_ref().map(native);
        let took_ms = slot.took.and_then(|took| u64::try_from(took.as_millis()).ok());
        Some(Part { body, origin: Origin::Assistant, native, took_ms })
    }
}
