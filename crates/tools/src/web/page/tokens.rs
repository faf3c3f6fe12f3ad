//! HTML cut into tags and text, in one pass that never looks back: whatever a page is, its cost is its
//! length.

/// A piece of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'h> {
    /// Text between tags, as it is written.
    Text(&'h str),
    /// A start tag.
    Open(Tag<'h>),
    /// An end tag, by its name as written.
    Close(&'h str),
    /// What an element holds whose content is text, and its start tag.
    Raw(Tag<'h>, &'h str),
}

/// A start tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag<'h> {
    /// Its name, as written.
    pub(super) name: &'h str,
    /// What stands between the name and the end.
    pub(super) inside: &'h str,
}

impl<'h> Tag<'h> {
    pub(super) fn is(self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Its attributes, values as written; a name without a value has an empty one.
    pub(super) fn attributes(self) -> Attributes<'h> {
        Attributes { rest: self.inside }
    }
}

/// Elements whose content is text, whatever it looks like.
const RAW: [&str; 8] =
    ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"];

/// The tokens of a page.
pub(super) struct Tokens<'h> {
    rest: &'h str,
}

impl<'h> Tokens<'h> {
    pub(super) fn new(html: &'h str) -> Self {
        Self { rest: html }
    }

    fn markup(&mut self) -> Option<Token<'h>> {
        let text = self.rest;
        if let Some(comment) = text.strip_prefix("<!--") {
            // `<!-->` and `<!--->` are whole comments.
            let early = ["->", ">"].iter().find_map(|end| comment.strip_prefix(end));
            self.rest = early.unwrap_or_else(|| after(comment, "-->"));
            return None;
        }
        if text.starts_with("<!") || text.starts_with("<?") {
            self.rest = after(text, ">");
            return None;
        }
        if let Some(name) = text.strip_prefix("</") {
            self.rest = after(name, ">");
            let name = &name[..name_length(name)];
            return (!name.is_empty()).then_some(Token::Close(name));
        }
        let body = &text[1..];
        let (name, inside) = body.split_at(name_length(body));
        let end = tag_end(inside);
        let tag = Tag { name, inside: &inside[..end.min(inside.len())] };
        self.rest = inside.get(end + 1..).unwrap_or_default();
        if RAW.iter().any(|raw| tag.is(raw)) {
            let (content, rest) = raw_end(self.rest, name);
            self.rest = rest;
            return Some(Token::Raw(tag, content));
        }
        Some(Token::Open(tag))
    }
}

impl<'h> Iterator for Tokens<'h> {
    type Item = Token<'h>;

    fn next(&mut self) -> Option<Token<'h>> {
        while !self.rest.is_empty() {
            let start = markup_start(self.rest);
            if start > 0 {
                let (text, rest) = self.rest.split_at(start);
                self.rest = rest;
                return Some(Token::Text(text));
            }
            if let Some(token) = self.markup() {
                return Some(token);
            }
        }
        None
    }
}

/// Where the next tag or comment begins; a `<` before anything else is text.
fn markup_start(text: &str) -> usize {
    let bytes = text.as_bytes();
    let begins = |at: &usize| {
        bytes
            .get(at + 1)
            .is_some_and(|next| matches!(next, b'!' | b'?' | b'/') || next.is_ascii_alphabetic())
    };
    memchr::memchr_iter(b'<', bytes).find(begins).unwrap_or(text.len())
}

fn after<'h>(text: &'h str, end: &str) -> &'h str {
    memchr::memmem::find(text.as_bytes(), end.as_bytes()).map_or("", |at| &text[at + end.len()..])
}

fn name_length(text: &str) -> usize {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
    text.as_bytes().iter().position(is_end).unwrap_or(text.len())
}

/// Where a tag ends: at the first `>` that is not in a quoted value.
fn tag_end(inside: &str) -> usize {
    let bytes = inside.as_bytes();
    let mut at = 0;
    let mut value = false;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'>' => return at,
            b'=' => value = true,
            b'"' | b'\'' if value => {
                match memchr::memchr(*byte, &bytes[at + 1..]) {
                    Some(length) => at += length + 1,
                    None => return bytes.len(),
                }
                value = false;
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => value = false,
        }
        at += 1;
    }
    bytes.len()
}

/// What a raw element holds, and what follows its end tag.
fn raw_end<'h>(text: &'h str, name: &str) -> (&'h str, &'h str) {
    for at in memchr::memmem::find_iter(text.as_bytes(), b"</") {
        let from = at + 2;
        let same = text.get(from..from + name.len());
        if same.is_some_and(|end| end.eq_ignore_ascii_case(name)) {
            return (&text[..at], after(&text[from..], ">"));
        }
    }
    (text, "")
}

/// The attributes of a tag.
pub(super) struct Attributes<'h> {
    rest: &'h str,
}

impl<'h> Iterator for Attributes<'h> {
    type Item = (&'h str, &'h str);

    fn next(&mut self) -> Option<Self::Item> {
        let separator = |c: char| c.is_ascii_whitespace() || c == '/';
        let text = self.rest.trim_start_matches(separator);
        if text.is_empty() {
            return None;
        }
        // An `=` with nothing before it is part of a name.
        let from = text.chars().next().map_or(0, char::len_utf8);
        let is_end = |c: char| separator(c) || c == '=';
        let end = text[from..].find(is_end).map_or(text.len(), |at| at + from);
        let (name, rest) = text.split_at(end);
        let Some(value) = rest.trim_start().strip_prefix('=') else {
            self.rest = rest;
            return Some((name, ""));
        };
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (value, rest) = match quote {
            Some(quote) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            None => {
                value.split_at(value.find(|c: char| c.is_ascii_whitespace()).unwrap_or(value.len()))
            }
        };
        self.rest = rest;
        Some((name, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(html: &str) -> String {
        let tell = |token| match token {
            Token::Text(text) => format!("'{text}'"),
            Token::Open(tag) => format!("<{}>", tag.name),
            Token::Close(name) => format!("</{name}>"),
            Token::Raw(tag, text) => format!("<{}:{text}>", tag.name),
        };
        Tokens::new(html).map(tell).collect()
    }

    #[test]
    fn pages_are_cut_as_browsers_cut_them() {
        for (html, tokens) in [
            ("a<b>c</b>", "'a'<b>'c'</b>"),
            ("a < b <3 <", "'a < b <3 <'"),
            ("<!-- <p> -->x<!-->y<!--->z", "'x''y''z'"),
            ("<!DOCTYPE html><?xml?><![CDATA[x]]>y", "'y'"),
            ("<a title='>' x=\">\">t", "<a>'t'"),
            ("<p title=a'b>t", "<p>'t'"),
            ("<script>'<div>' </div> </scr</ScripT >t", "<script:'<div>' </div> </scr>'t'"),
            ("<title>a<b></title>", "<title:a<b>>"),
            ("</ x></>t", "'t'"),
            ("<p a='", "<p>"),
            ("<!-- never ends <p>", ""),
            ("<br/><IMG src=x>", "<br><IMG>"),
        ] {
            assert_eq!(told(html), tokens, "{html}");
        }
    }

    #[test]
    fn attributes_are_read_however_they_are_quoted() {
        let tag = Tag { name: "a", inside: " href = \"x>y\" b c='d e'/f=g/h =i ==j" };
        let read: Vec<_> = tag.attributes().collect();
        assert_eq!(&read[..4], [("href", "x>y"), ("b", ""), ("c", "d e"), ("f", "g/h")]);
        let unclosed = Tag { name: "a", inside: " x='y z" };
        assert_eq!(unclosed.attributes().collect::<Vec<_>>(), [("x", "y z")]);
    }
}
