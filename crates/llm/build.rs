//! Embeds `catalog/*.toml`: a new provider is a new file, nothing else.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The place of a provider whose file names none: after the well-known ones, before local servers.
const USUAL_ORDER: u32 = 500;

#[expect(clippy::disallowed_methods, reason = "cargo tells the output folder by a variable only")]
fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("catalog");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", folder.display());
    let out = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    fs::write(PathBuf::from(out).join("catalog_files.rs"), listing(&folder)?)?;
    Ok(())
}

/// The source of a list of all files, best provider first.
fn listing(folder: &Path) -> Result<String, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = fs::read_to_string(&path)?;
            let id = path.file_stem().and_then(|stem| stem.to_str()).ok_or("a file name is odd")?;
            files.push((order(&text)?, id.to_owned(), path));
        }
    }
    files.sort();
    let mut source = "static FILES: &[File] = &[\n".to_owned();
    for (_, id, path) in files {
        let path = path.to_str().ok_or("the workspace's path is not UTF-8")?;
        writeln!(source, "    File {{ id: {id:?}, text: include_str!({path:?}) }},")?;
    }
    source.push_str("];\n");
    Ok(source)
}

/// The number of the line `order = N`, which stands before the models.
fn order(text: &str) -> Result<u32, Box<dyn Error>> {
    let mut head = text.lines().take_while(|line| !line.starts_with("[["));
    match head.find_map(|line| line.strip_prefix("order = ")) {
        Some(number) => Ok(number.trim().parse()?),
        None => Ok(USUAL_ORDER),
    }
}
