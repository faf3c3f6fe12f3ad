//! Embeds `migrations/NNNN_<what>.sql`: adding a migration means adding a file, nothing else.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

#[expect(clippy::disallowed_methods, reason = "this is how cargo speaks to a build script")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=migrations");
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("migrations");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)?
        .map(|file| Ok(file?.path()))
        .collect::<Result<_, std::io::Error>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "sql"));
    files.sort();

    let mut code = String::from("pub(crate) const MIGRATIONS: &[&str] = &[\n");
    for (at, file) in files.iter().enumerate() {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let expected = format!("{:04}_", at + 1);
        if !name.starts_with(&expected) {
            return Err(
                format!("migrations/{name}: the next migration is {expected}<what>.sql").into()
            );
        }
        // Where the folder is, the compiler knows: what is built may move to another machine.
        let path = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/migrations/{name}\")");
        writeln!(code, "    include_str!({path}),")?;
    }
    code.push_str("];\n");
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("migrations.rs"), code)?;
    Ok(())
}
