//! Cuts a stream of bytes into server-sent events. Pure; anything a server may send is survived.

use std::collections::VecDeque;

use super::{Gather, Gathered};

/// Bytes of an event's name or id that are kept.
const NAME: usize = 1 << 10;

/// One event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) name: Option<String>,
    pub(super) data: Option<Gathered>,
    pub(super) id: Option<String>,
    /// Milliseconds to wait before asking again.
    pub(super) retry: Option<u64>,
}

/// Cuts a stream into events.
#[derive(Debug, Default)]
pub(super) struct Parser {
    line: Gather,
    event: Event,
    data: Gather,
    has_data: bool,
}

impl Parser {
    pub(super) fn push(&mut self, bytes: &[u8], events: &mut VecDeque<Event>) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.line.push(&rest[..end]);
            rest = &rest[end + 1..];
            let line = self.line.take();
            self.end_line(line, events);
        }
        self.line.push(rest);
    }

    fn end_line(&mut self, line: Gathered, events: &mut VecDeque<Event>) {
        let line = match line {
            Gathered::Whole(line) => line,
            Gathered::Overlong { head, tail } => {
                let head = field(&head, b"data").unwrap_or_default().to_vec();
                self.event.data = Some(Gathered::Overlong { head, tail });
                return;
            }
        };
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        let text = |value: &[u8]| String::from_utf8_lossy(&value[..value.len().min(NAME)]).into();
        if line.is_empty() {
            self.end_event(events);
        } else if let Some(name) = field(line, b"event") {
            self.event.name = Some(text(name));
        } else if let Some(id) = field(line, b"id") {
            self.event.id = Some(text(id));
        } else if let Some(retry) = field(line, b"retry") {
            let retry: String = text(retry);
            self.event.retry = retry.parse().ok();
        } else if let Some(data) = field(line, b"data") {
            if self.has_data {
                self.data.push(b"\n");
            }
            self.has_data = true;
            self.data.push(data);
        }
    }

    fn end_event(&mut self, events: &mut VecDeque<Event>) {
        let data = self.data.take();
        let mut event = std::mem::take(&mut self.event);
        if event.data.is_none() && self.has_data {
            event.data = Some(data);
        }
        self.has_data = false;
        if event != Event::default() {
            events.push_back(event);
        }
    }
}

/// The value of a line `name: value`.
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let value = line.strip_prefix(name)?.strip_prefix(b":")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Heard, LONGEST, hear};
    use super::*;

    fn events(chunks: &[&[u8]]) -> Vec<Event> {
        let (mut parser, mut events) = (Parser::default(), VecDeque::new());
        for chunk in chunks {
            parser.push(chunk, &mut events);
        }
        events.into()
    }

    #[test]
    fn events_are_cut_out_of_any_chunks() {
        let text = b": hello\r\nevent: endpoint\r\ndata: /m?id=1\r\n\r\n\n\ndata: {\ndata: }\nid: 3\n\nid: 4\nretry: 9\n\n";
        let whole = events(&[text]);
        let data = |text: &[u8]| Some(Gathered::Whole(text.to_vec()));
        let expected = [
            Event { name: Some("endpoint".to_owned()), data: data(b"/m?id=1"), ..Event::default() },
            Event { data: data(b"{\n}"), id: Some("3".to_owned()), ..Event::default() },
            Event { id: Some("4".to_owned()), retry: Some(9), ..Event::default() },
        ];
        assert_eq!(whole, expected);
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(events(&bytes), whole);
    }

    #[test]
    fn an_event_that_is_too_long_keeps_its_ends() {
        let text = format!("data: {{\"result\":\"{}\",\"id\":4}}\n\n", "x".repeat(LONGEST));
        let chunks: Vec<&[u8]> = text.as_bytes().chunks(1 << 16).collect();
        let [event] = <[Event; 1]>::try_from(events(&chunks)).unwrap();
        assert!(matches!(hear(event.data.unwrap()), Heard::Messages(_)));
    }

    proptest! {
        #[test]
        fn anything_is_survived(text in prop::collection::vec(any::<u8>(), 0..400), cut in 1_usize..50) {
            let chunks: Vec<&[u8]> = text.chunks(cut).collect();
            prop_assert_eq!(events(&chunks), events(&[&text]));
        }
    }
}
