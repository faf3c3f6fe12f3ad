//! What a body is, and its text in whatever encoding it came.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;

/// Bytes looked at to find out what a body is.
const HEAD: usize = 1_024;

/// What a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A page.
    Html,
    /// JSON.
    Json,
    /// Other text.
    Text,
    /// A PDF document.
    Pdf,
    /// Not text.
    Binary,
}

/// What a body is, by what its server says; none when that says nothing.
pub(crate) fn told_kind(content_type: Option<&str>) -> Option<Kind> {
    let kind = media_type(content_type?);
    let (family, form) = kind.split_once('/')?;
    Some(match (family, form) {
        ("text", "html") | ("application", "xhtml+xml") => Kind::Html,
        ("application", "json") => Kind::Json,
        ("application", "pdf" | "x-pdf") => Kind::Pdf,
        (_, form) if form.ends_with("+json") => Kind::Json,
        ("text", _) => Kind::Text,
        (_, form) if form.ends_with("+xml") => Kind::Text,
        (
            "application",
            "xml" | "javascript" | "ecmascript" | "x-javascript" | "yaml" | "x-yaml" | "toml"
            | "sql" | "graphql" | "x-sh" | "x-ndjson" | "x-httpd-php" | "rtf",
        ) => Kind::Text,
        // Servers say these of anything they do not know.
        ("application", "octet-stream" | "x-unknown" | "unknown") | ("binary", _) => return None,
        _ => Kind::Binary,
    })
}

/// What a body is. What a server says of text is believed only of text.
pub(crate) fn kind(content_type: Option<&str>, body: &[u8]) -> Kind {
    let head = &body[..body.len().min(HEAD)];
    let wide = Encoding::for_bom(head).is_some();
    if head.starts_with(b"%PDF-") {
        return Kind::Pdf;
    }
    if head.contains(&0) && !wide {
        return Kind::Binary;
    }
    told_kind(content_type).unwrap_or_else(|| {
        let start = String::from_utf8_lossy(head).trim_start().to_ascii_lowercase();
        let is_page = ["<!doctype html", "<html", "<head", "<body"].iter();
        if is_page.clone().any(|tag| start.starts_with(tag)) { Kind::Html } else { Kind::Text }
    })
}

/// `text/html` of `Text/HTML; charset=utf-8`.
pub(crate) fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// A body's text: by its byte order mark, else by what the server says, else by what the page says, else by
/// a guess. Never fails; what fits no encoding is replaced.
pub(crate) fn text(content_type: Option<&str>, kind: Kind, body: &[u8]) -> String {
    let by_page = || match kind {
        Kind::Html | Kind::Text => page_charset(body),
        Kind::Json | Kind::Pdf | Kind::Binary => None,
    };
    let told = content_type.and_then(header_charset).or_else(by_page);
    let encoding = told.unwrap_or_else(|| guess(body));
    // A byte order mark overrides all.
    encoding.decode(body).0.into_owned()
}

fn header_charset(content_type: &str) -> Option<&'static Encoding> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        name.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| Encoding::for_label(value.as_bytes()))?
    })
}

/// `<meta charset=…>`, `<meta … content="…; charset=…">` and `<?xml encoding=…?>` have one thing in common.
fn page_charset(body: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&body[..body.len().min(HEAD)]).to_ascii_lowercase();
    let in_tag = |name: &str, tag: &str| -> Option<&'static Encoding> {
        let at = head.find(name)?;
        let opened = head.get(..at)?.rfind('<')?;
        if !head.get(opened..)?.starts_with(tag) {
            return None;
        }
        let value = head.get(at + name.len()..)?.trim_start().strip_prefix('=')?.trim_start();
        let value = value.trim_start_matches(['"', '\'']);
        let end = value.find(['"', '\'', ' ', ';', '>', '/', '?']).unwrap_or(value.len());
        Encoding::for_label(value.get(..end)?.as_bytes())
    };
    let found = in_tag("charset", "<meta").or_else(|| in_tag("encoding", "<?xml"))?;
    // The tag was read as ASCII, so the page is not in a wide encoding whatever it says.
    let wide = found == encoding_rs::UTF_16LE || found == encoding_rs::UTF_16BE;
    Some(if wide { encoding_rs::UTF_8 } else { found })
}

fn guess(body: &[u8]) -> &'static Encoding {
    if std::str::from_utf8(body).is_ok() {
        return encoding_rs::UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(body, true);
    detector.guess(None, Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(content_type: Option<&str>, body: &[u8]) -> String {
        text(content_type, kind(content_type, body), body)
    }

    #[test]
    fn text_is_decoded_by_mark_header_page_or_guess() {
        let japanese = encoding_rs::SHIFT_JIS.encode("日本語のページです").0;
        let meta = |charset: &str| format!("<html><head><meta charset={charset}>");
        for (content_type, body, expected) in [
            (Some("text/plain; charset=ISO-8859-1"), b"caf\xe9".to_vec(), "café"),
            (Some("text/plain; charset=\"utf-8\""), "café".as_bytes().to_vec(), "café"),
            (Some("text/plain; charset=latin1"), b"\xef\xbb\xbfcaf\xc3\xa9".to_vec(), "café"),
            (Some("text/plain"), b"\xff\xfec\0a\0f\0\xe9\0".to_vec(), "café"),
            (Some("text/plain; charset=nonsense"), b"caf\xe9 au lait".to_vec(), "café au lait"),
            (Some("text/html; charset=shift_jis"), japanese.to_vec(), "日本語のページです"),
        ] {
            assert_eq!(read(content_type, &body), expected, "{content_type:?}");
        }
        let page = [meta("shift_jis").as_bytes(), &japanese].concat();
        assert!(read(Some("text/html"), &page).ends_with("日本語のページです"));
        let page = [meta("'UTF-16'").as_bytes(), "café".as_bytes()].concat();
        assert!(read(Some("text/html"), &page).ends_with("café"));
        let old = b"<meta http-equiv=content-type content=\"text/html; charset=windows-1252\">\x80";
        assert!(read(None, old).ends_with('€'));
        let xml = b"<?xml version=\"1.0\" encoding='iso-8859-2'?><a>\xb1</a>";
        assert!(read(Some("application/xml"), xml).contains('ą'));
    }

    #[test]
    fn bodies_are_told_apart() {
        for (content_type, body, expected) in [
            (Some("Text/HTML; charset=x"), &b"hi"[..], Kind::Html),
            (Some("application/ld+json"), b"{}", Kind::Json),
            (Some("image/svg+xml"), b"<svg/>", Kind::Text),
            (Some("image/png"), b"\x89PNG", Kind::Binary),
            (Some("application/pdf"), b"%PDF", Kind::Pdf),
            (Some("text/plain"), b"%PDF-1.7\n\0", Kind::Pdf),
            (Some("text/plain"), b"MZ\0\0", Kind::Binary),
            (Some("application/octet-stream"), b"plain", Kind::Text),
            (None, b"  <!DOCTYPE html><p>", Kind::Html),
            (None, b"\x7fELF\0", Kind::Binary),
            (Some("nonsense"), b"text", Kind::Text),
        ] {
            assert_eq!(kind(content_type, body), expected, "{content_type:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn any_body_has_a_text(body in proptest::collection::vec(any::<u8>(), 0..200), label in "[ -~]{0,30}") {
            drop(read(Some(&label), &body));
            let meta = [b"<meta charset=", label.as_bytes(), &body].concat();
            drop(read(None, &meta));
        }
    }
}
