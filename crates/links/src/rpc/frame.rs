//! Where one message ends and the next begins. Pure; anything a program may print is survived.

/// How messages are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// A `Content-Length` header, an empty line, the message: language servers.
    Headers,
    /// One message a line; a line that begins with neither `{` nor `[` is let pass.
    Lines,
    /// One message a line, and nothing but messages.
    OnlyLines,
}

/// The longest message that is taken.
const LONGEST: usize = 64 << 20;
/// The longest line that can be a header.
const HEADER: usize = 8 << 10;
/// How much that is no message is survived between two messages.
const NOISE: usize = 1 << 20;

/// Why a stream cannot be followed any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// Too much that is no message.
    #[error("it prints what is no message")]
    Noise,
    /// A message longer than anybody needs.
    #[error("it sends a message of {0} bytes")]
    TooLong(usize),
}

/// Cuts a stream of bytes into messages.
#[derive(Debug)]
pub struct Decoder {
    framing: Framing,
    buffer: Vec<u8>,
    /// Where what has not been used begins.
    start: usize,
    /// How far has been looked for the end of a line.
    looked: usize,
    /// The length of the message whose header is being read.
    length: Option<usize>,
    /// Whether the header is over.
    in_body: bool,
    noise: usize,
}

impl Decoder {
    /// Begins a stream.
    pub fn new(framing: Framing) -> Self {
        Self {
            framing,
            buffer: Vec::new(),
            start: 0,
            looked: 0,
            length: None,
            in_body: false,
            noise: 0,
        }
    }

    /// Takes bytes as they come.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 && self.start >= self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
            self.looked -= self.start;
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole message; none until more bytes have come.
    pub fn next_message(&mut self) -> Result<Option<Vec<u8>>, Lost> {
        match self.framing {
            Framing::Headers => self.next_with_headers(),
            Framing::Lines | Framing::OnlyLines => self.next_line_message(),
        }
    }

    /// What is left when nothing more comes: a last line without its end is a message like others.
    pub fn last_message(&mut self) -> Result<Option<Vec<u8>>, Lost> {
        if self.framing == Framing::Headers || self.start == self.buffer.len() {
            return Ok(None);
        }
        self.push(b"\n");
        self.next_message()
    }

    fn next_with_headers(&mut self) -> Result<Option<Vec<u8>>, Lost> {
        loop {
            if let (true, Some(length)) = (self.in_body, self.length) {
                let end = self.start + length;
                if self.buffer.len() < end {
                    return Ok(None);
                }
                let message = self.buffer[self.start..end].to_vec();
                (self.start, self.looked) = (end, end);
                (self.in_body, self.length, self.noise) = (false, None, 0);
                return Ok(Some(message));
            }
            let Some(line) = self.line() else {
                if self.buffer.len() - self.start > HEADER {
                    let dropped = self.buffer.len() - self.start;
                    (self.start, self.looked) = (self.buffer.len(), self.buffer.len());
                    self.noisy(dropped)?;
                }
                return Ok(None);
            };
            let line = String::from_utf8_lossy(&line).trim().to_ascii_lowercase();
            match (content_length(&line), self.length) {
                (Some(length), _) if length > LONGEST => return Err(Lost::TooLong(length)),
                (Some(length), _) => self.length = Some(length),
                (None, Some(_)) => self.in_body = line.is_empty(),
                (None, None) => self.noisy(line.len() + 1)?,
            }
        }
    }

    fn next_line_message(&mut self) -> Result<Option<Vec<u8>>, Lost> {
        while let Some(line) = self.line() {
            let message = line.trim_ascii();
            let begins = matches!(message.first(), Some(b'{' | b'['));
            if begins || (self.framing == Framing::OnlyLines && !message.is_empty()) {
                self.noise = 0;
                return Ok(Some(message.to_vec()));
            }
            self.noisy(line.len() + 1)?;
        }
        let begun = self.buffer.len() - self.start;
        if begun > LONGEST { Err(Lost::TooLong(begun)) } else { Ok(None) }
    }

    /// The next whole line, without its end.
    fn line(&mut self) -> Option<Vec<u8>> {
        let from = self.looked.max(self.start);
        let Some(found) = self.buffer[from..].iter().position(|&byte| byte == b'\n') else {
            self.looked = self.buffer.len();
            return None;
        };
        let line = self.buffer[self.start..from + found].to_vec();
        self.start = from + found + 1;
        self.looked = self.start;
        Some(line)
    }

    fn noisy(&mut self, bytes: usize) -> Result<(), Lost> {
        self.noise += bytes;
        if self.noise > NOISE { Err(Lost::Noise) } else { Ok(()) }
    }
}

/// The length a header line names. Some programs print something before it on the same line.
fn content_length(line: &str) -> Option<usize> {
    let (_, value) = line.rsplit_once("content-length:")?;
    value.trim().parse().ok()
}

/// A message as it goes over the wire.
pub fn encode(framing: Framing, message: &[u8]) -> Vec<u8> {
    match framing {
        Framing::Headers => {
            let mut bytes = format!("Content-Length: {}\r\n\r\n", message.len()).into_bytes();
            bytes.extend_from_slice(message);
            bytes
        }
        Framing::Lines | Framing::OnlyLines => [message, b"\n"].concat(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(decoder: &mut Decoder) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| decoder.next_message().unwrap()).collect()
    }

    #[test]
    fn noise_around_messages_is_skipped() {
        let mut decoder = Decoder::new(Framing::Headers);
        decoder.push(b"starting\n\nhello Content-Length: 2\r\nContent-Type: x\r\n\r\n{}tail\n");
        decoder.push(b"content-length: 4\n\nnull");
        assert_eq!(all(&mut decoder), [b"{}".to_vec(), b"null".to_vec()]);
    }

    #[test]
    fn a_flood_of_noise_ends_the_stream_and_is_not_kept() {
        for framing in [Framing::Headers, Framing::Lines] {
            let mut decoder = Decoder::new(framing);
            let lost = (0..10_000).find_map(|_| {
                decoder.push(b"garbage garbage garbage garbage garbage garbage garbage garbage\n");
                decoder.push(&[b'y'; 256]);
                decoder.next_message().err()
            });
            assert_eq!(lost, Some(Lost::Noise), "{framing:?}");
            assert!(decoder.buffer.len() < 4 * NOISE);
        }
    }

    #[test]
    fn a_message_beyond_all_measure_is_refused_before_it_comes() {
        let mut decoder = Decoder::new(Framing::Headers);
        decoder.push(b"Content-Length: 99999999999\r\n\r\n");
        assert_eq!(decoder.next_message(), Err(Lost::TooLong(99_999_999_999)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn messages_come_out_as_they_went_in(
            messages in proptest::collection::vec("\\{[^\n]{0,80}\\}", 0..8),
            cuts in proptest::collection::vec(1_usize..40, 1..20),
            lines in any::<bool>(),
        ) {
            let framing = if lines { Framing::Lines } else { Framing::Headers };
            let bytes: Vec<u8> =
                messages.iter().flat_map(|message| encode(framing, message.as_bytes())).collect();
            let mut decoder = Decoder::new(framing);
            let (mut rest, mut seen) = (bytes.as_slice(), Vec::new());
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                decoder.push(now);
                seen.extend(all(&mut decoder));
                rest = later;
            }
            let wanted: Vec<Vec<u8>> =
                messages.iter().map(|message| message.trim().as_bytes().to_vec()).collect();
            prop_assert_eq!(seen, wanted);
        }

        #[test]
        fn no_bytes_break_it(chunks in proptest::collection::vec(any::<Vec<u8>>(), 0..20)) {
            for framing in [Framing::Headers, Framing::Lines] {
                let mut decoder = Decoder::new(framing);
                for chunk in &chunks {
                    decoder.push(chunk);
                    while let Ok(Some(_)) = decoder.next_message() {}
                }
            }
        }
    }
}
