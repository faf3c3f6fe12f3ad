//! What a file's bytes are: text in some encoding, or something else.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

/// How much of a file is looked at to find out what it is.
pub(crate) const SAMPLE: usize = 64 * 1024;

/// How text is written as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// What nearly everybody uses.
    Utf8,
    /// Two bytes a letter, the small one first: Windows.
    Utf16Le,
    /// Two bytes a letter, the large one first.
    Utf16Be,
    /// One of the encodings from before.
    Legacy(&'static encoding_rs::Encoding),
}

impl Encoding {
    /// The encoding of a text; a guess where nothing in it says.
    pub(crate) fn of(content: &[u8]) -> Self {
        let sample = &content[..content.len().min(SAMPLE)];
        if let Some(wide) = wide(sample) {
            return wide;
        }
        if is_utf8(sample) {
            return Self::Utf8;
        }
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        detector.feed(sample, true);
        Self::Legacy(detector.guess(None, Utf8Detection::Deny))
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le => "UTF-16LE",
            Self::Utf16Be => "UTF-16BE",
            Self::Legacy(encoding) => encoding.name(),
        }
    }

    /// What decodes it, as it comes.
    pub(crate) fn decoder(self) -> encoding_rs::Decoder {
        let encoding = match self {
            Self::Utf8 => encoding_rs::UTF_8,
            Self::Utf16Le => encoding_rs::UTF_16LE,
            Self::Utf16Be => encoding_rs::UTF_16BE,
            Self::Legacy(encoding) => encoding,
        };
        encoding.new_decoder_with_bom_removal()
    }

    /// Content in a form where ASCII is ASCII and lines end in line feeds, so that it can be edited byte by
    /// byte. Only UTF-16 is not in one already; broken UTF-16 stays as it is, and then nothing fits.
    pub(crate) fn workable(self, content: &[u8]) -> Cow<'_, [u8]> {
        let number = match self {
            Self::Utf8 | Self::Legacy(_) => return Cow::Borrowed(content),
            Self::Utf16Le => u16::from_le_bytes,
            Self::Utf16Be => u16::from_be_bytes,
        };
        let (pairs, odd) = content.as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().map(|pair| number(*pair)).collect();
        match String::from_utf16(&units) {
            Ok(text) if odd.is_empty() => Cow::Owned(text.into_bytes()),
            Ok(_) | Err(_) => Cow::Borrowed(content),
        }
    }

    /// The way back from [`Encoding::workable`].
    pub(crate) fn restored(self, bytes: Vec<u8>) -> Vec<u8> {
        let write = match self {
            Self::Utf8 | Self::Legacy(_) => return bytes,
            Self::Utf16Le => u16::to_le_bytes,
            Self::Utf16Be => u16::to_be_bytes,
        };
        match String::from_utf8(bytes) {
            Ok(text) => text.encode_utf16().flat_map(write).collect(),
            Err(unchanged) => unchanged.into_bytes(),
        }
    }

    /// A model's text in the form [`Encoding::workable`] gives; none if the encoding lacks a letter.
    pub(crate) fn workable_text(self, text: &str) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Utf8 | Self::Utf16Le | Self::Utf16Be => Some(Cow::Borrowed(text.as_bytes())),
            Self::Legacy(encoding) => {
                let (bytes, _, lost) = encoding.encode(text);
                (!lost).then_some(bytes)
            }
        }
    }
}

/// UTF-16, by its mark or because every other byte of plain English is zero.
fn wide(sample: &[u8]) -> Option<Encoding> {
    match sample {
        [0xff, 0xfe, ..] => return Some(Encoding::Utf16Le),
        [0xfe, 0xff, ..] => return Some(Encoding::Utf16Be),
        _ => {}
    }
    let pairs = sample.as_chunks::<2>().0;
    let most = |zero: usize| {
        let found = pairs.iter().filter(|pair| pair[zero] == 0 && pair[1 - zero] != 0).count();
        pairs.len() >= 4 && found * 10 >= pairs.len() * 8
    };
    let none_both = !pairs.iter().any(|pair| pair == &[0, 0]);
    match (none_both && most(1), none_both && most(0)) {
        (true, _) => Some(Encoding::Utf16Le),
        (false, true) => Some(Encoding::Utf16Be),
        (false, false) => None,
    }
}

/// Whether a sample is UTF-8, but for a letter that is cut off at its end.
fn is_utf8(sample: &[u8]) -> bool {
    match std::str::from_utf8(sample) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && sample.len() >= SAMPLE,
    }
}

/// Whether a file's beginning is that of a text in any encoding.
pub(crate) fn is_text(sample: &[u8]) -> bool {
    if wide(sample).is_some() {
        return true;
    }
    // Form feeds, escapes (colours) and the like occur in texts; zeros do not, nor do many of the others.
    let odd = |byte: &&u8| matches!(byte, 0x01..=0x08 | 0x0e..=0x1a | 0x1c..=0x1f);
    !sample.contains(&0) && sample.iter().filter(odd).count() * 50 <= sample.len()
}

/// What a file that is not text is, by how it begins.
pub(crate) fn kind_of(sample: &[u8]) -> &'static str {
    const KINDS: &[(&[u8], &str)] = &[
        (b"\x7fELF", "a program (ELF)"),
        (b"MZ", "a program (Windows)"),
        (b"\xcf\xfa\xed\xfe", "a program (macOS)"),
        (b"\xca\xfe\xba\xbe", "a program (macOS or Java class)"),
        (b"\0asm", "a WebAssembly module"),
        (b"PK\x03\x04", "a ZIP archive (or an office document)"),
        (b"\x1f\x8b", "gzip data"),
        (b"BZh", "bzip2 data"),
        (b"\xfd7zXZ\0", "xz data"),
        (b"\x28\xb5\x2f\xfd", "zstd data"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (b"SQLite format 3\0", "a SQLite database"),
        (b"!<arch>\n", "an object archive"),
        (b"\x89PNG", "a PNG picture"),
        (b"\xff\xd8\xff", "a JPEG picture"),
        (b"GIF8", "a GIF picture"),
        (b"II*\0", "a TIFF picture"),
        (b"MM\0*", "a TIFF picture"),
        (b"%PDF-", "a PDF document"),
        (b"OggS", "an Ogg recording"),
        (b"ID3", "an MP3 recording"),
        (b"fLaC", "a FLAC recording"),
        (b"RIFF", "a RIFF recording or picture"),
        (b"wOFF", "a font"),
        (b"wOF2", "a font"),
        (b"\0\x01\0\0", "a font"),
        (b"\xd0\xcf\x11\xe0", "an old office document"),
    ];
    let named = KINDS.iter().find(|(magic, _)| sample.starts_with(magic));
    match (named, sample.get(4..12)) {
        (Some((_, kind)), _) => kind,
        (None, Some(b"ftypavif" | b"ftypheic" | b"ftypmif1")) => "a picture (AVIF or HEIC)",
        (None, Some(brand)) if brand.starts_with(b"ftyp") => "a video",
        (None, Some(_) | None) => "binary data",
    }
}

/// A number of bytes as people say it.
pub(crate) fn size(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "rounded to one digit anyway")]
    let number = bytes as f64;
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} KB", number / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", number / 1e6),
        1_000_000_000.. => format!("{:.1} GB", number / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_encodings_apart() {
        assert_eq!(Encoding::of(b"plain"), Encoding::Utf8);
        assert_eq!(Encoding::of("größer".as_bytes()), Encoding::Utf8);
        assert_eq!(Encoding::of(b"\xff\xfeh\0i\0"), Encoding::Utf16Le);
        assert_eq!(Encoding::of(b"\0h\0e\0l\0l\0o"), Encoding::Utf16Be);
        assert_eq!(Encoding::of(b"caf\xe9 cr\xe8me\n").name(), "windows-1252");
    }

    #[test]
    fn a_letter_cut_off_at_the_sample_is_no_fault() {
        let mut long = vec![b'x'; SAMPLE - 1];
        long.extend("é".as_bytes());
        assert_eq!(Encoding::of(&long), Encoding::Utf8);
    }

    #[test]
    fn wide_text_comes_back_as_it_was() {
        for (encoding, bytes) in [
            (Encoding::Utf16Le, b"\xff\xfea\0\r\0\n\0".as_slice()),
            (Encoding::Utf16Be, b"\xfe\xff\0a\0\xe9"),
        ] {
            let workable = encoding.workable(bytes).into_owned();
            assert_eq!(encoding.restored(workable), bytes);
        }
    }

    #[test]
    fn tells_text_from_the_rest() {
        assert!(is_text(b""));
        assert!(is_text(b"\x1b[1mbold\x1b[0m\n"));
        assert!(is_text(b"caf\xe9"));
        assert!(!is_text(b"\x7fELF\x02\x01\x01\0\0\0"));
        assert_eq!(kind_of(b"\x7fELF\x02"), "a program (ELF)");
        assert_eq!(kind_of(b"\0\0\0\x18ftypmp42"), "a video");
        assert_eq!(kind_of(b"\0\0\0\x18ftypavif"), "a picture (AVIF or HEIC)");
    }
}
