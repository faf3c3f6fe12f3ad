//! Answers kept on disk, as long as their servers say; older ones are asked for only if they have changed.
//!
//! One file an address: a line of JSON, then the body. The folder is the user's alone, and bounded.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use base::{Clock, Timestamp};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as URL_SAFE_NO_PAD;
use reqwest::header::{
    AGE, CACHE_CONTROL, ETAG, HeaderMap, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    LAST_MODIFIED,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use url::Url;

/// Bytes kept in all.
const SIZE_LIMIT: u64 = 64 << 20;
/// Answers kept in all.
const COUNT_LIMIT: usize = 500;
/// Longest time an answer counts as fresh, whatever its server says.
const FRESH_LIMIT: Duration = Duration::from_hours(24);

/// The answers of earlier requests.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    folder: PathBuf,
    clock: Clock,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// What is known of it.
    pub(crate) head: Head,
    /// Its body, decompressed.
    pub(crate) body: Vec<u8>,
}

/// What is known of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    /// What was asked for.
    asked: Url,
    /// Where it came from, redirects followed.
    pub(crate) url: Url,
    /// What the server says it is.
    pub(crate) content_type: Option<String>,
    /// Whether the body goes on beyond what was read.
    pub(crate) cut: bool,
    etag: Option<String>,
    last_modified: Option<String>,
    fresh_until: Timestamp,
    keep: bool,
}

impl Head {
    /// Reads an answer's headers.
    pub(crate) fn new(asked: &Url, url: &Url, headers: &HeaderMap, now: Timestamp) -> Self {
        let text = |name: HeaderName| {
            headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let control = text(CACHE_CONTROL).unwrap_or_default();
        let age = text(AGE).and_then(|age| age.parse().ok()).unwrap_or(0);
        let (fresh, keep) = read_control(&control, age);
        let (etag, last_modified) = (text(ETAG), text(LAST_MODIFIED));
        let useful = fresh > Duration::ZERO || etag.is_some() || last_modified.is_some();
        Self {
            asked: asked.clone(),
            url: url.clone(),
            content_type: text(reqwest::header::CONTENT_TYPE),
            cut: false,
            etag,
            last_modified,
            fresh_until: after(now, fresh),
            keep: keep && useful,
        }
    }

    /// Whether it can be used without asking.
    pub(crate) fn is_fresh(&self, now: Timestamp) -> bool {
        now < self.fresh_until
    }

    /// Headers that ask whether it has changed.
    pub(crate) fn conditions(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in [(IF_NONE_MATCH, &self.etag), (IF_MODIFIED_SINCE, &self.last_modified)]
        {
            if let Some(value) = value {
                headers.extend(super::header(name, value));
            }
        }
        headers
    }

    /// The same after its server said that it has not changed.
    pub(crate) fn renewed(mut self, newer: &Self) -> Self {
        self.fresh_until = newer.fresh_until;
        self.etag = newer.etag.clone().or(self.etag);
        self
    }
}

/// How long `Cache-Control` lets an answer be used, and whether it may be kept at all.
fn read_control(control: &str, age_s: u64) -> (Duration, bool) {
    let mut fresh = Duration::ZERO;
    let mut must_ask = false;
    for directive in control.split(',').map(|part| part.trim().to_ascii_lowercase()) {
        match directive.split_once('=').unwrap_or((&directive, "")) {
            ("no-store", _) => return (Duration::ZERO, false),
            ("no-cache", _) => must_ask = true,
            ("max-age", seconds) => {
                let seconds = seconds.trim_matches('"').parse::<u64>().unwrap_or(0);
                fresh = Duration::from_secs(seconds.saturating_sub(age_s)).min(FRESH_LIMIT);
            }
            (_, _) => {}
        }
    }
    (if must_ask { Duration::ZERO } else { fresh }, true)
}

fn after(now: Timestamp, time: Duration) -> Timestamp {
    Timestamp::from_millis(
        now.as_millis().saturating_add(i64::try_from(time.as_millis()).unwrap_or(0)),
    )
}

impl Cache {
    /// A cache in `folder`, made when first needed.
    pub(crate) fn new(folder: PathBuf, clock: Clock) -> Self {
        Self { folder, clock }
    }

    /// The time by the cache's clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// What is kept for an address. What cannot be read is as good as nothing.
    pub(crate) fn get(&self, url: &Url) -> Option<Answer> {
        let bytes = fs::read(self.file(url)).ok()?;
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let head: Head = serde_json::from_slice(bytes.get(..end)?).ok()?;
        let body = bytes.get(end + 1..)?.to_vec();
        (&head.asked == url).then_some(Answer { head, body })
    }

    /// Keeps an answer, if it may be kept, and lets the oldest go.
    pub(crate) fn put(&self, answer: &Answer) -> io::Result<()> {
        if !answer.head.keep {
            return Ok(());
        }
        make_private(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        serde_json::to_writer(&mut file, &answer.head)?;
        file.write_all(b"\n")?;
        file.write_all(&answer.body)?;
        file.persist(self.file(&answer.head.asked))?;
        self.shrink()
    }

    fn file(&self, url: &Url) -> PathBuf {
        self.folder.join(URL_SAFE_NO_PAD.encode(Sha256::digest(url.as_str())))
    }

    fn shrink(&self) -> io::Result<()> {
        let mut kept = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let data = entry.metadata()?;
            let changed = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            kept.push((changed, data.len(), entry.path()));
        }
        kept.sort();
        let mut size: u64 = kept.iter().map(|(_, length, _)| length).sum();
        let mut count = kept.len();
        for (_, length, path) in kept {
            if size <= SIZE_LIMIT && count <= COUNT_LIMIT {
                break;
            }
            fs::remove_file(path)?;
            size -= length;
            count -= 1;
        }
        Ok(())
    }
}

/// Makes a folder that is the user's alone.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn answer(address: &str, headers: &[(&'static str, &str)], body: &[u8]) -> Answer {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()))
            .collect();
        let head = Head::new(&url(address), &url(address), &headers, Timestamp::from_millis(0));
        Answer { head, body: body.to_vec() }
    }

    #[test]
    fn servers_say_how_long_an_answer_is_good() {
        for (control, age, fresh_s, keep) in [
            ("max-age=60", 0, 60, true),
            ("public, max-age=\"60\"", 20, 40, true),
            ("max-age=60, no-cache", 0, 0, true),
            ("no-store, max-age=60", 0, 0, false),
            ("max-age=99999999999999999999", 0, 0, true),
            ("max-age=999999999", 0, FRESH_LIMIT.as_secs(), true),
            ("", 0, 0, true),
        ] {
            assert_eq!(
                read_control(control, age),
                (Duration::from_secs(fresh_s), keep),
                "{control}"
            );
        }
    }

    #[test]
    fn answers_come_back_as_they_were_and_others_are_not_mistaken_for_them() {
        let folder = tempfile::tempdir().unwrap();
        let cache =
            Cache::new(folder.path().join("fetch"), Clock::fixed(Timestamp::from_millis(0)));
        let kept = answer("https://a.example/x", &[("etag", "\"1\"")], b"line\n\0binary");
        cache.put(&kept).unwrap();
        assert_eq!(cache.get(&url("https://a.example/x")), Some(kept));
        assert_eq!(cache.get(&url("https://a.example/y")), None);
        cache.put(&answer("https://a.example/y", &[], b"no way to ask again")).unwrap();
        assert_eq!(cache.get(&url("https://a.example/y")), None);
        fs::write(cache.file(&url("https://a.example/z")), "broken").unwrap();
        assert_eq!(cache.get(&url("https://a.example/z")), None);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&cache.folder).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
    }

    #[test]
    fn the_folder_stays_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_owned(), Clock::system());
        let body = vec![b'x'; 5 << 20];
        for number in 0..15 {
            let address = format!("https://a.example/{number}");
            cache.put(&answer(&address, &[("etag", "\"1\"")], &body)).unwrap();
        }
        let size: u64 = fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().metadata().unwrap().len())
            .sum();
        assert!(size <= SIZE_LIMIT, "{size}");
        assert!(cache.get(&url("https://a.example/14")).is_some());
    }
}
