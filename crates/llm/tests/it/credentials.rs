//! Stored keys: private, whole, and safe for several processes at once.

use std::sync::{Arc, Mutex};
use std::thread;

use base::{CommandLine, Env, RunCommand, RunError, Secret};
use llm::credentials::{Credentials, CredentialsError, Place};

fn in_folder(folder: &tempfile::TempDir) -> Credentials {
    Credentials::in_file(folder.path().join("deep/er/credentials.json"))
}

#[test]
fn what_is_stored_is_found_again_and_forgotten_when_told() {
    let folder = tempfile::tempdir().unwrap();
    let store = in_folder(&folder);
    assert_eq!(store.get("openai").unwrap(), None);
    let stored = store.put("openai", &Secret::new("sk-1234567890abcdef")).unwrap();
    assert_eq!(stored.place, Place::File(store.path().to_owned()));
    assert_eq!(store.get("openai").unwrap(), Some(Secret::new("sk-1234567890abcdef")));
    let listed = store.list().unwrap();
    assert_eq!((listed[0].provider.as_str(), listed[0].masked.as_str()), ("openai", "••••cdef"));
    assert!(store.remove("openai").unwrap().is_some());
    assert!(store.remove("openai").unwrap().is_none());
    assert_eq!(store.get("openai").unwrap(), None);
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let store = in_folder(&folder);
    store.put("openai", &Secret::new("k")).unwrap();
    let mode = || std::fs::metadata(store.path()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    let names = std::fs::read_dir(store.path().parent().unwrap()).unwrap();
    for path in names.map(|entry| entry.unwrap().path()) {
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", path.display());
    }
    std::fs::set_permissions(store.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(store.tighten().unwrap());
    assert_eq!(mode(), 0o600);
    assert!(!store.tighten().unwrap());
}

#[test]
fn many_writers_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let writers: Vec<_> = (0..16)
        .map(|number| {
            let store = in_folder(&folder);
            thread::spawn(move || store.put(&format!("p{number}"), &Secret::new("k")).unwrap())
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    assert_eq!(in_folder(&folder).list().unwrap().len(), 16);
}

#[test]
fn a_damaged_file_is_reported_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credentials.json");
    std::fs::write(&path, "{ \"keys\": { \"openai\": ").unwrap();
    let store = Credentials::in_file(path.clone());
    let error = store.put("groq", &Secret::new("k")).unwrap_err();
    assert!(matches!(error, CredentialsError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("credentials.json"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{ \"keys\": { \"openai\": ");
}

/// Plays `secret-tool`: keeps keys by provider, or fails.
#[derive(Default)]
struct Helper {
    kept: Mutex<Vec<(String, String)>>,
    broken: bool,
}

impl RunCommand for Helper {
    fn run(&self, command: &CommandLine) -> Result<String, RunError> {
        assert_eq!(command.program, "secret-tool");
        assert!(!command.args.iter().any(|arg| arg.contains("sk-")), "a key among the arguments");
        if self.broken {
            let (program, status) = (command.program.clone(), "exit status: 1".to_owned());
            return Err(RunError::Failed { program, status, stderr: "locked".to_owned() });
        }
        let provider = command.args.last().unwrap().clone();
        let mut kept = self.kept.lock().unwrap();
        match command.args[0].as_str() {
            "store" => {
                let key = command.stdin.as_ref().unwrap().expose().to_owned();
                kept.push((provider, key));
                Ok(String::new())
            }
            "lookup" => {
                let found = kept.iter().find(|(known, _)| *known == provider);
                Ok(found.map(|(_, key)| key.clone()).unwrap_or_default())
            }
            "clear" => {
                kept.retain(|(known, _)| *known != provider);
                Ok(String::new())
            }
            other => panic!("unknown verb {other}"),
        }
    }
}

/// A session with a bus and a `secret-tool` on its path.
#[cfg(not(any(target_os = "macos", windows)))]
fn desktop(folder: &tempfile::TempDir, helper: &Arc<Helper>) -> Credentials {
    std::fs::write(folder.path().join("secret-tool"), "").unwrap();
    let path = folder.path().to_str().unwrap();
    let env = Env::from_iter([("DBUS_SESSION_BUS_ADDRESS", "unix:x"), ("PATH", path)]);
    Credentials::new(folder.path().join("credentials.json"), &env, helper.clone())
}

#[cfg(not(any(target_os = "macos", windows)))]
#[test]
fn the_keyring_holds_the_key_and_the_file_only_its_end() {
    let (folder, helper) = (tempfile::tempdir().unwrap(), Arc::new(Helper::default()));
    let store = desktop(&folder, &helper);
    let stored = store.put("openai", &Secret::new("sk-1234567890abcdef")).unwrap();
    assert_eq!(stored.place, Place::Keyring("the desktop keyring"));
    let text = std::fs::read_to_string(store.path()).unwrap();
    assert!(!text.contains("sk-"), "{text}");
    assert_eq!(store.list().unwrap()[0].masked, "••••cdef");
    assert_eq!(store.get("openai").unwrap(), Some(Secret::new("sk-1234567890abcdef")));
    store.remove("openai").unwrap();
    assert!(helper.kept.lock().unwrap().is_empty());
    assert_eq!(store.get("openai").unwrap(), None);
}

#[cfg(not(any(target_os = "macos", windows)))]
#[test]
fn a_keyring_that_fails_leaves_the_key_in_the_file_and_says_why() {
    let helper = Arc::new(Helper { broken: true, ..Helper::default() });
    let folder = tempfile::tempdir().unwrap();
    let store = desktop(&folder, &helper);
    let stored = store.put("openai", &Secret::new("sk-1234567890abcdef")).unwrap();
    assert_eq!(stored.place, Place::File(store.path().to_owned()));
    assert!(stored.note.unwrap().contains("locked"));
    assert_eq!(store.get("openai").unwrap(), Some(Secret::new("sk-1234567890abcdef")));
}
