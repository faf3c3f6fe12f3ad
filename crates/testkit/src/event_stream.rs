//! AWS's binary event stream: written for the scripted server, read for the oracle.
//!
//! A frame is a 12-byte prelude (whole length, header length, checksum of both), headers, payload
//! and a checksum of all before it. Every header either side needs is a string (type 7).

/// One frame of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Header names and values; string headers only, others are skipped.
    pub headers: Vec<(String, String)>,
    /// What the frame carries.
    pub payload: Vec<u8>,
}

impl Frame {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Why bytes are not a sequence of frames.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadFrame {
    /// The bytes end inside a frame.
    #[error("frame at byte {0} is cut off")]
    Cut(usize),
    /// A checksum does not fit.
    #[error("frame at byte {0} has a wrong checksum")]
    Checksum(usize),
    /// Lengths or headers make no sense.
    #[error("frame at byte {0} is malformed")]
    Malformed(usize),
}

/// Writes an event frame, as Bedrock sends them.
pub fn event(event_type: &str, payload: &[u8]) -> Vec<u8> {
    let headers = [
        (":event-type", event_type),
        (":content-type", "application/json"),
        (":message-type", "event"),
    ];
    frame(&headers, payload)
}

/// Writes an exception frame: an error inside a stream that began well.
pub fn exception(exception_type: &str, payload: &[u8]) -> Vec<u8> {
    let headers = [
        (":exception-type", exception_type),
        (":content-type", "application/json"),
        (":message-type", "exception"),
    ];
    frame(&headers, payload)
}

#[expect(clippy::cast_possible_truncation, reason = "test headers are far below 64 KiB")]
fn frame(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut head = Vec::new();
    for (name, value) in headers {
        head.push(name.len() as u8);
        head.extend_from_slice(name.as_bytes());
        head.push(7);
        head.extend_from_slice(&(value.len() as u16).to_be_bytes());
        head.extend_from_slice(value.as_bytes());
    }
    sealed(&head, payload)
}

/// Writes a frame with right lengths and checksums around whatever is meant to be its headers.
#[expect(clippy::cast_possible_truncation, reason = "test frames are far below 4 GiB")]
pub fn sealed(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let total = 12 + headers.len() + payload.len() + 4;
    let mut out = Vec::with_capacity(total);
    out.extend_from_slice(&(total as u32).to_be_bytes());
    out.extend_from_slice(&(headers.len() as u32).to_be_bytes());
    out.extend_from_slice(&crc32(&out).to_be_bytes());
    out.extend_from_slice(headers);
    out.extend_from_slice(payload);
    out.extend_from_slice(&crc32(&out).to_be_bytes());
    out
}

/// Reads whole frames; an incomplete one at the end is an error.
pub fn read(bytes: &[u8]) -> Result<Vec<Frame>, BadFrame> {
    let mut frames = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let total = word(rest, 0).ok_or(BadFrame::Cut(at))?;
        let head_length = word(rest, 4).ok_or(BadFrame::Cut(at))?;
        if total < 16 || head_length > total - 16 {
            return Err(BadFrame::Malformed(at));
        }
        let whole = rest.get(..total).ok_or(BadFrame::Cut(at))?;
        let sums_fit = word(whole, 8) == Some(crc32(&whole[..8]) as usize)
            && word(whole, total - 4) == Some(crc32(&whole[..total - 4]) as usize);
        if !sums_fit {
            return Err(BadFrame::Checksum(at));
        }
        let head_end = 12 + head_length;
        let headers = read_headers(&whole[12..head_end]).ok_or(BadFrame::Malformed(at))?;
        frames.push(Frame { headers, payload: whole[head_end..total - 4].to_vec() });
        at += total;
    }
    Ok(frames)
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let four: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    usize::try_from(u32::from_be_bytes(four)).ok()
}

fn read_headers(mut bytes: &[u8]) -> Option<Vec<(String, String)>> {
    let mut headers = Vec::new();
    while let Some((&name_length, rest)) = bytes.split_first() {
        let (name, rest) = rest.split_at_checked(usize::from(name_length))?;
        let (&kind, rest) = rest.split_first()?;
        let fixed = match kind {
            0 | 1 => Some(0),
            2 => Some(1),
            3 => Some(2),
            4 => Some(4),
            5 | 8 => Some(8),
            9 => Some(16),
            6 | 7 => None,
            _ => return None,
        };
        let (length, rest) = if let Some(length) = fixed {
            (length, rest)
        } else {
            let (two, rest) = rest.split_at_checked(2)?;
            (usize::from(u16::from_be_bytes([two[0], two[1]])), rest)
        };
        let (value, rest) = rest.split_at_checked(length)?;
        if kind == 7 {
            let text = |part: &[u8]| String::from_utf8(part.to_vec()).ok();
            headers.push((text(name)?, text(value)?));
        }
        bytes = rest;
    }
    Some(headers)
}

/// CRC-32 (IEEE), bit by bit: frames in tests are small.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let mask = (crc & 1).wrapping_neg();
            crc = (crc >> 1) ^ (0xEDB8_8320 & mask);
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_well_known_one() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn frames_come_back_as_they_were_written() {
        let mut bytes = event("chunk", b"{\"a\":1}");
        bytes.extend(exception("throttlingException", b"{}"));
        let frames = read(&bytes).unwrap();
        assert_eq!(frames.len(), 2);
        assert_eq!(frames[0].header(":event-type"), Some("chunk"));
        assert_eq!(frames[0].payload, b"{\"a\":1}");
        assert_eq!(frames[1].header(":message-type"), Some("exception"));
    }

    #[test]
    fn a_cut_or_changed_frame_is_an_error_and_names_its_place() {
        let whole = event("chunk", b"hello");
        assert_eq!(read(&whole[..whole.len() - 1]), Err(BadFrame::Cut(0)));
        let mut changed = whole.clone();
        changed.extend_from_slice(&whole);
        let last = changed.len() - 6;
        changed[last] ^= 1;
        assert_eq!(read(&changed), Err(BadFrame::Checksum(whole.len())));
    }
}
