//! The file that has all of an output: made when it is needed, readable by its owner only, capped.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Most that is kept of one output.
const CAP_BYTES: u64 = 1024 * 1024 * 1024;
/// Longest part of a call's id in a file name.
const NAME_CHARS: usize = 64;
/// How many outputs of one name are kept apart.
const SAME_NAMES: u32 = 1_000;

/// Where an output goes that is too long for the model.
#[derive(Debug)]
pub struct Spill {
    folder: PathBuf,
    /// The folder as the session may know it.
    shown: PathBuf,
    name: String,
    cap: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Nothing was written yet.
    Waiting,
    /// The file, and how much it has.
    Open { path: PathBuf, file: File, written: u64 },
    /// The file has all it may have.
    Full { path: PathBuf, file: File },
    /// The system refused.
    Failed(io::Error),
}

impl Spill {
    /// A file in `folder`, named after the call whose output it is. Neither is made before it is needed.
    pub fn new(folder: PathBuf, call: &str) -> Self {
        // Ids come from a provider; one may look like a path.
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let name: String = call.chars().take(NAME_CHARS).map(plain).collect();
        let name = if name.is_empty() { "output".to_owned() } else { name };
        Self { shown: folder.clone(), folder, name, cap: CAP_BYTES, state: State::Waiting }
    }

    /// The same, with the folder told by another name.
    #[must_use]
    pub fn shown_in(mut self, shown: PathBuf) -> Self {
        self.shown = shown;
        self
    }

    /// The same with another cap.
    #[cfg(test)]
    pub(super) fn capped(mut self, cap: u64) -> Self {
        self.cap = cap;
        self
    }

    /// Keeps bytes that are no text in a file of their own, whose name ends as `ending` says, and tells its name as the
    /// session may know it.
    pub fn keep(&self, bytes: &[u8], ending: &str) -> io::Result<PathBuf> {
        let (path, mut file) = self.create(ending)?;
        file.write_all(bytes)?;
        Ok(self.name_of(&path))
    }

    /// Whether writing began, whatever came of it.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.state, State::Waiting)
    }

    /// The file, if there is one.
    pub(super) fn path(&self) -> Option<&Path> {
        match &self.state {
            State::Open { path, .. } | State::Full { path, .. } => Some(path),
            State::Waiting | State::Failed(_) => None,
        }
    }

    /// Appends; makes the file first if need be. A failure is remembered and told by [`Spill::describe`]:
    /// output that cannot be kept is no reason to stop the command that makes it.
    pub(super) fn write(&mut self, text: &str) {
        if matches!(self.state, State::Waiting) {
            self.state = match self.create("txt") {
                Ok((path, file)) => State::Open { path, file, written: 0 },
                Err(error) => State::Failed(error),
            };
        }
        let State::Open { file, written, .. } = &mut self.state else { return };
        let room = usize::try_from(self.cap - *written).unwrap_or(usize::MAX);
        let fits = text.floor_char_boundary(room);
        *written += fits as u64;
        match file.write_all(&text.as_bytes()[..fits]) {
            Ok(()) if fits == text.len() => {}
            Ok(()) => self.fill(),
            Err(error) => self.state = State::Failed(error),
        }
    }

    /// Up to `bytes` from an offset; cut at whole characters.
    pub(super) fn read(&mut self, from: u64, bytes: usize) -> io::Result<String> {
        let (State::Open { file, .. } | State::Full { file, .. }) = &mut self.state else {
            return Ok(String::new());
        };
        file.seek(SeekFrom::Start(from))?;
        let mut read = Vec::with_capacity(bytes);
        file.take(bytes as u64).read_to_end(&mut read)?;
        let first = read.iter().position(|byte| !is_continuation(*byte)).unwrap_or(read.len());
        let whole = read[first..].utf8_chunks().next().map_or("", |chunk| chunk.valid());
        Ok(whole.to_owned())
    }

    /// Where all of it is, in words that complete a sentence.
    pub(super) fn describe(&self) -> String {
        match &self.state {
            State::Waiting => "nothing more was kept".to_owned(),
            State::Open { path, .. } => format!("all of it is in {}", self.name_of(path).display()),
            State::Full { path, .. } => {
                let (megabytes, path) = (self.cap / (1024 * 1024), self.name_of(path));
                format!("the first {megabytes} MB are in {}", path.display())
            }
            State::Failed(error) => format!("it could not be kept in a file: {error}"),
        }
    }

    fn name_of(&self, path: &Path) -> PathBuf {
        path.file_name().map_or_else(|| self.shown.clone(), |name| self.shown.join(name))
    }

    fn fill(&mut self) {
        let state = std::mem::replace(&mut self.state, State::Waiting);
        self.state = match state {
            State::Open { path, file, .. } => State::Full { path, file },
            State::Waiting | State::Full { .. } | State::Failed(_) => state,
        };
    }

    /// Makes a new file: an existing one, or a link that waits under the name, is never written to.
    fn create(&self, ending: &str) -> io::Result<(PathBuf, File)> {
        let mut folder = DirBuilder::new();
        folder.recursive(true);
        let mut options = OpenOptions::new();
        options.read(true).append(true).create_new(true);
        #[cfg(unix)]
        {
            std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        folder.create(&self.folder)?;
        for number in 1..=SAME_NAMES {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            let path = self.folder.join(format!("{}{suffix}.{ending}", self.name));
            match options.open(&path) {
                Ok(file) => return Ok((path, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}
