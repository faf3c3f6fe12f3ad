//! A file of bounded size, with a few older ones beside it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// When a file is put aside for a new one, in bytes.
const FILE_BYTES: u64 = 2 * 1024 * 1024;
/// Files kept, the current one included.
const FILES: usize = 4;

/// The file, and what is open of it. Several processes may write to it.
pub(super) struct LogFile {
    path: PathBuf,
    limit: u64,
    open: Option<File>,
}

impl LogFile {
    /// Touches no disk: the file is opened by the first write.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, limit: FILE_BYTES, open: None }
    }

    /// Appends one line.
    pub(super) fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let full = match &self.open {
            Some(file) => file.metadata()?.len() + line.len() as u64 > self.limit,
            None => false,
        };
        if full {
            self.open = None;
        }
        if self.open.is_none() {
            self.open = Some(self.open_with_room(line.len() as u64)?);
        }
        match &mut self.open {
            Some(file) => file.write_all(line),
            None => Ok(()),
        }
    }

    /// The file under its name, after it was put aside if it has no room.
    fn open_with_room(&self, bytes: u64) -> io::Result<File> {
        if let Some(folder) = self.path.parent() {
            private_folder(folder)?;
        }
        let file = open(&self.path)?;
        if file.metadata()?.len() + bytes <= self.limit {
            return Ok(file);
        }
        // One process puts it aside; the others then find a new one under the name.
        file.lock()?;
        let current = open(&self.path)?;
        if current.metadata()?.len() + bytes <= self.limit {
            return Ok(current);
        }
        for number in (1..FILES).rev() {
            let from = if number == 1 { self.path.clone() } else { self.numbered(number - 1) };
            match fs::rename(&from, self.numbered(number)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        open(&self.path)
    }

    /// `caiman.1.log` is the newest of those that were put aside.
    fn numbered(&self, number: usize) -> PathBuf {
        self.path.with_extension(format!("{number}.log"))
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(folder: &Path) -> Vec<(String, u64)> {
        let mut found: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| {
                (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len())
            })
            .collect();
        found.sort();
        found
    }

    #[test]
    fn a_full_file_is_put_aside_and_few_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("caiman.log");
        let mut log = LogFile { path: path.clone(), limit: 100, open: None };
        for number in 0..100 {
            log.write(format!("line {number:04}\n").as_bytes()).unwrap();
        }
        let found = sizes(dir.path());
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["caiman.1.log", "caiman.2.log", "caiman.3.log", "caiman.log"]);
        assert!(found.iter().all(|(_, size)| *size <= 100), "{found:?}");
        assert!(fs::read_to_string(path).unwrap().ends_with("line 0099\n"));
    }

    #[test]
    fn two_writers_share_a_file_and_lose_no_line_while_it_is_put_aside() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("caiman.log");
        let writer = || LogFile { path: path.clone(), limit: 1_000, open: None };
        std::thread::scope(|scope| {
            for name in ["a", "b"] {
                let mut log = writer();
                scope.spawn(move || {
                    for number in 0..100 {
                        log.write(format!("{name} line {number:04}\n").as_bytes()).unwrap();
                    }
                });
            }
        });
        // 200 lines of 12 bytes fit into the files that are kept.
        let files = ["caiman.log", "caiman.1.log", "caiman.2.log", "caiman.3.log"];
        let texts = files.map(|name| fs::read_to_string(dir.path().join(name)).unwrap_or_default());
        let lines: usize = texts.iter().map(|text| text.lines().count()).sum();
        assert_eq!(lines, 200, "{:?}", sizes(dir.path()));
    }
}
