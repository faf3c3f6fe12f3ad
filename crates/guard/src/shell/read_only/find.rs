//! `find` without actions that write, delete or run anything but what is proven apart.

use super::{Assurance, NotReadOnly, Proof, unsure};
use crate::shell::Word;

/// Tests and actions that only look. Those with a value are listed with it.
const LOOKS: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-type",
    "-xtype",
    "-maxdepth",
    "-mindepth",
    "-depth",
    "-d",
    "-print",
    "-print0",
    "-printf",
    "-ls",
    "-prune",
    "-quit",
    "-not",
    "-a",
    "-and",
    "-o",
    "-or",
    "-size",
    "-empty",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-newer",
    "-anewer",
    "-cnewer",
    "-newermt",
    "-newerct",
    "-newerat",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-nouser",
    "-nogroup",
    "-perm",
    "-links",
    "-inum",
    "-samefile",
    "-lname",
    "-ilname",
    "-readable",
    "-writable",
    "-executable",
    "-true",
    "-false",
    "-mount",
    "-xdev",
    "-follow",
    "-daystart",
    "-noleaf",
    "-L",
    "-H",
    "-P",
    "-E",
    "-x",
    "-s",
    "-X",
    "-warn",
    "-nowarn",
    "-fstype",
    "-used",
    "-ignore_readdir_race",
    "-noignore_readdir_race",
];

/// Proves that a search only looks. The commands of `-exec` are proven apart.
pub(super) fn proof(arguments: &[Word]) -> Proof {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.plain() else {
            if word.may_be_option() {
                return Err(unsure("find", word));
            }
            continue;
        };
        if text == "-exec" {
            let ended = words.any(|it| matches!(it.plain(), Some(";" | "+")));
            if !ended {
                return Err(NotReadOnly::new("`find -exec` has no end"));
            }
            continue;
        }
        let Some(option) = text.strip_prefix('-') else { continue };
        // `-mtime -1` and `-perm -u+x` have values with a dash.
        let is_value = option.starts_with(|it: char| it.is_ascii_digit())
            || ["u=", "u+", "g=", "g+", "o=", "o+", "a=", "a+"]
                .iter()
                .any(|it| option.starts_with(it));
        if !is_value && !LOOKS.contains(&text) {
            return Err(NotReadOnly::new(format!(
                "`find {text}` is not on the list of read-only options"
            )));
        }
    }
    Ok(Assurance::Checked)
}
