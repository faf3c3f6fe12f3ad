//! The system's keyring: Keychain on macOS, Credential Manager on Windows, the Secret Service elsewhere
//! (through `secret-tool`, so that the binary needs no D-Bus library).

#[cfg(not(any(target_os = "macos", windows)))]
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::{CommandLine, Env, RunCommand, Secret};

use super::KeyringError;

/// The name our entries carry.
const SERVICE: &str = "caiman";
/// A lookup answers at once or hangs on a locked keyring nobody can unlock.
const LOOKUP_LIMIT: Duration = Duration::from_secs(5);
/// Storing may ask the user to unlock the keyring first.
const STORE_LIMIT: Duration = Duration::from_mins(1);

/// A keyring, or none.
#[derive(Clone)]
pub(super) enum Keyring {
    /// There is none here.
    None,
    /// The platform's own.
    #[cfg(any(target_os = "macos", windows))]
    Native,
    /// The Secret Service, through its command line program.
    #[cfg_attr(any(target_os = "macos", windows), expect(dead_code, reason = "for other systems"))]
    SecretTool { env: Env, runner: Arc<dyn RunCommand> },
}

/// Why a key is not in the keyring.
pub(super) enum Refusal {
    /// There is no keyring.
    Absent,
    /// There is one, but it does not work.
    Failed(String),
}

impl Keyring {
    /// The keyring of this session.
    #[cfg(any(target_os = "macos", windows))]
    pub(super) fn of_system(_env: &Env, _runner: Arc<dyn RunCommand>) -> Self {
        Self::Native
    }

    /// The keyring of this session: there must be a session bus and the program.
    #[cfg(not(any(target_os = "macos", windows)))]
    pub(super) fn of_system(env: &Env, runner: Arc<dyn RunCommand>) -> Self {
        let has_bus = env.get("DBUS_SESSION_BUS_ADDRESS").is_some();
        if has_bus && on_path("secret-tool", env) {
            Self::SecretTool { env: env.clone(), runner }
        } else {
            Self::None
        }
    }

    /// What users call the keyring of this platform.
    pub(super) fn name() -> &'static str {
        if cfg!(target_os = "macos") {
            "the macOS keychain"
        } else if cfg!(windows) {
            "the Windows Credential Manager"
        } else {
            "the desktop keyring"
        }
    }

    /// Reads a key.
    pub(super) fn get(&self, provider: &str) -> Result<Option<Secret>, KeyringError> {
        match self {
            Self::None => Err(KeyringError::Absent),
            #[cfg(any(target_os = "macos", windows))]
            Self::Native => native::get(provider),
            Self::SecretTool { env, runner } => {
                let command = secret_tool(env, ["lookup"], provider, LOOKUP_LIMIT);
                let key = runner.run(&command)?;
                Ok((!key.is_empty()).then(|| Secret::new(key)))
            }
        }
    }

    /// Stores a key and reads it back: some keyrings take what they do not keep.
    pub(super) fn put(&self, provider: &str, key: &Secret) -> Result<(), Refusal> {
        let failed = |error: KeyringError| Refusal::Failed(error.to_string());
        match self {
            Self::None => return Err(Refusal::Absent),
            #[cfg(any(target_os = "macos", windows))]
            Self::Native => native::put(provider, key).map_err(failed)?,
            Self::SecretTool { env, runner } => {
                let label = format!("--label=Caiman: {provider}");
                let mut command = secret_tool(env, ["store", &label], provider, STORE_LIMIT);
                command.stdin = Some(key.clone());
                runner.run(&command).map_err(|error| failed(error.into()))?;
            }
        }
        match self.get(provider).map_err(failed)? {
            Some(kept) if kept == *key => Ok(()),
            Some(_) | None => Err(Refusal::Failed("the keyring did not keep the key".to_owned())),
        }
    }

    /// Forgets a key; one that is not there is forgotten already.
    pub(super) fn remove(&self, provider: &str) -> Result<(), KeyringError> {
        match self {
            Self::None => Err(KeyringError::Absent),
            #[cfg(any(target_os = "macos", windows))]
            Self::Native => native::remove(provider),
            Self::SecretTool { env, runner } => {
                let command = secret_tool(env, ["clear"], provider, LOOKUP_LIMIT);
                runner.run(&command).map(drop)?;
                Ok(())
            }
        }
    }
}

fn secret_tool<const N: usize>(
    env: &Env,
    verb: [&str; N],
    provider: &str,
    timeout: Duration,
) -> CommandLine {
    let attributes = ["service", SERVICE, "provider", provider];
    let args = verb.into_iter().chain(attributes).map(str::to_owned);
    CommandLine { timeout, ..CommandLine::new("secret-tool", args, env) }
}

#[cfg(not(any(target_os = "macos", windows)))]
fn on_path(program: &str, env: &Env) -> bool {
    let folders = env.get("PATH").unwrap_or_default().split(':');
    folders
        .filter(|folder| !folder.is_empty())
        .any(|folder| Path::new(folder).join(program).is_file())
}

#[cfg(any(target_os = "macos", windows))]
mod native {
    //! The platform's own store, through keyring-core.

    use base::Secret;
    use keyring_core::{Entry, Error, set_default_store};

    use super::{KeyringError, SERVICE};

    pub(super) fn get(provider: &str) -> Result<Option<Secret>, KeyringError> {
        match entry(provider)?.get_password() {
            Ok(key) => Ok(Some(Secret::new(key))),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(failed(&error)),
        }
    }

    pub(super) fn put(provider: &str, key: &Secret) -> Result<(), KeyringError> {
        entry(provider)?.set_password(key.expose()).map_err(|error| failed(&error))
    }

    pub(super) fn remove(provider: &str) -> Result<(), KeyringError> {
        match entry(provider)?.delete_credential() {
            Ok(()) | Err(Error::NoEntry) => Ok(()),
            Err(error) => Err(failed(&error)),
        }
    }

    fn entry(provider: &str) -> Result<Entry, KeyringError> {
        #[cfg(target_os = "macos")]
        let store = apple_native_keyring_store::keychain::Store::new();
        #[cfg(windows)]
        let store = windows_native_keyring_store::Store::new();
        set_default_store(store.map_err(|error| failed(&error))?);
        Entry::new(SERVICE, provider).map_err(|error| failed(&error))
    }

    fn failed(error: &Error) -> KeyringError {
        KeyringError::Library(error.to_string())
    }
}
