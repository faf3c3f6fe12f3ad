//! What a [`Gate`](super::Gate) lets through besides the public internet.

use std::net::IpAddr;
use std::str::FromStr;

use super::Place;

/// One exception: hosts or networks, perhaps at one port only.
///
/// Written as `private` (every private network and this machine; never a metadata service), a name
/// (`wiki.corp`, `*.corp`), an address or a network (`10.1.0.0/16`), each with an optional port:
/// `localhost:8080`, `[::1]:80`, `10.0.0.0/8:443`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    what: What,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    Private,
    Name(String),
    Below(String),
    Network { address: IpAddr, bits: u32 },
}

/// Why a text is not an [`Opening`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no host, address or network; write `host:port`, `10.0.0.0/8` or `private`")]
pub struct OpeningError(String);

impl Opening {
    /// Every private network and this machine, at any port.
    pub fn private() -> Self {
        Self { what: What::Private, port: None }
    }

    /// Whether it lets a name through.
    pub(super) fn has_name(&self, name: &str, port: u16) -> bool {
        let name = name.trim_end_matches('.');
        let fits = match &self.what {
            What::Private | What::Network { .. } => false,
            What::Name(own) => own.eq_ignore_ascii_case(name),
            What::Below(own) => name
                .len()
                .checked_sub(own.len())
                .and_then(|start| name.get(start..))
                .is_some_and(|end| end.eq_ignore_ascii_case(own)),
        };
        fits && self.has_port(port)
    }

    /// Whether it lets an address through.
    pub(super) fn has_address(&self, address: IpAddr, port: u16, place: Place) -> bool {
        let fits = match &self.what {
            What::Private => matches!(place, Place::Loopback | Place::Private | Place::LinkLocal),
            What::Name(_) | What::Below(_) => false,
            What::Network { address: own, bits } => within(address.to_canonical(), *own, *bits),
        };
        fits && self.has_port(port)
    }

    fn has_port(&self, port: u16) -> bool {
        self.port.is_none_or(|own| own == port)
    }
}

impl FromStr for Opening {
    type Err = OpeningError;

    fn from_str(text: &str) -> Result<Self, OpeningError> {
        let text = text.trim();
        let bad = || OpeningError(text.to_owned());
        let (host, port) = split_port(text).ok_or_else(bad)?;
        let what = what(host).ok_or_else(bad)?;
        Ok(Self { what, port })
    }
}

fn what(host: &str) -> Option<What> {
    if host.eq_ignore_ascii_case("private") {
        return Some(What::Private);
    }
    if let Some((address, bits)) = host.split_once('/') {
        let address: IpAddr = address.parse().ok()?;
        let bits = bits.parse().ok().filter(|bits| *bits <= width(address))?;
        return Some(What::Network { address, bits });
    }
    if let Ok(address) = host.parse::<IpAddr>() {
        let address = address.to_canonical();
        return Some(What::Network { address, bits: width(address) });
    }
    let (below, name) = match host.strip_prefix("*.") {
        Some(name) => (true, name),
        None => (false, host),
    };
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = name.trim_end_matches('.');
    if name.is_empty() || !name.chars().all(fine) {
        return None;
    }
    let name = name.to_ascii_lowercase();
    Some(if below { What::Below(format!(".{name}")) } else { What::Name(name) })
}

/// Splits `host:port`, `[v6]:port`, `v6`, `host`.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, Some(port.parse().ok()?))),
            None => rest.is_empty().then_some((host, None)),
        };
    }
    match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') => Some((host, Some(port.parse().ok()?))),
        Some(_) | None => Some((text, None)),
    }
}

fn width(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn within(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            let differ = u32::from(address) ^ u32::from(network);
            differ.checked_shr(32 - bits).unwrap_or(0) == 0
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            let differ = u128::from(address) ^ u128::from(network);
            differ.checked_shr(128 - bits).unwrap_or(0) == 0
        }
        (IpAddr::V4(_) | IpAddr::V6(_), _) => false,
    }
}
