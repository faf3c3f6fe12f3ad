//! Which addresses may be reached: none of this machine's or its private networks' unless allowed.
//!
//! A page can lead anywhere: to a router, to a database on this machine, to the address where a cloud hands
//! out keys. So every address is judged twice: as it is written ([`Gate::check`]), at the first request and
//! at each redirect, and as the names in it resolve ([`Gate::admit`]), right before a connection is made to
//! exactly the addresses that were judged. Nothing here opens a connection.

mod address;
mod opening;

use std::net::{IpAddr, SocketAddr};

use url::{Host, Url};

pub use address::Place;
pub use opening::{Opening, OpeningError};

/// Most redirects that are followed.
pub const REDIRECT_LIMIT: usize = 10;

/// Names that lead to this machine or its neighbours, with all names below them.
const INNER_NAMES: [&str; 12] = [
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "home.arpa",
    "in-addr.arpa",
    "ip6.arpa",
];

/// Decides which addresses may be reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gate {
    openings: Vec<Opening>,
}

/// Why an address may not be reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    /// Only web addresses can be fetched.
    #[error("`{0}:` addresses cannot be fetched; use http or https")]
    Scheme(String),
    /// It names nobody.
    #[error("the address names no host")]
    NoHost,
    /// It carries a name or password, which a page could have put there to mislead.
    #[error("the address holds a user name or password; leave it out")]
    UserInfo,
    /// It is, or resolves to, a place that is not on the public internet.
    #[error(
        "{host} is {place}, not on the public internet; \
         `tools.fetch.allow_private` in the settings lets such hosts through"
    )]
    Inner {
        /// The host as it was written.
        host: String,
        /// What it is.
        place: Place,
    },
    /// A secure page leads to an open one.
    #[error("the address leads from https to http ({0}); not followed")]
    Downgrade(String),
    /// Redirects go on and on.
    #[error("more than {REDIRECT_LIMIT} redirects")]
    TooManyRedirects,
    /// The name has no address.
    #[error("{0} has no address; check the name")]
    Unknown(String),
}

impl Gate {
    /// Lets through what is on the public internet and nothing else.
    pub fn closed() -> Self {
        Self::default()
    }

    /// Lets `openings` through besides.
    pub fn with(openings: impl IntoIterator<Item = Opening>) -> Self {
        Self { openings: openings.into_iter().collect() }
    }

    /// Judges an address as it is written. Names in it are judged again when they are resolved.
    pub fn check(&self, url: &Url) -> Result<(), NetError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(NetError::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(NetError::UserInfo);
        }
        let host = url.host().ok_or(NetError::NoHost)?;
        let port = url.port_or_known_default().unwrap_or_default();
        match host {
            Host::Ipv4(address) => self.check_address(&address.to_string(), address.into(), port),
            Host::Ipv6(address) => self.check_address(&address.to_string(), address.into(), port),
            Host::Domain(name) => self.check_name(name, port),
        }
    }

    /// Whether the settings name this host: it is then asked as it is written, without encryption if so.
    pub fn names(&self, url: &Url) -> bool {
        let port = url.port_or_known_default().unwrap_or_default();
        let has = |address: IpAddr| {
            let place = Place::of(address);
            self.openings.iter().any(|opening| opening.has_address(address, port, place))
        };
        match url.host() {
            Some(Host::Ipv4(address)) => has(address.into()),
            Some(Host::Ipv6(address)) => has(address.into()),
            Some(Host::Domain(name)) => self.opens_name(name, port),
            None => false,
        }
    }

    /// Judges a redirect, the `hops`th of a request.
    pub fn check_redirect(&self, from: &Url, to: &Url, hops: usize) -> Result<(), NetError> {
        if hops > REDIRECT_LIMIT {
            return Err(NetError::TooManyRedirects);
        }
        if from.scheme() == "https" && to.scheme() == "http" {
            return Err(NetError::Downgrade(to.to_string()));
        }
        self.check(to)
    }

    /// Judges what a name resolved to. One address that is refused refuses all: a name that leads inside
    /// now and then is not one to be trusted.
    pub fn admit(&self, name: &str, found: &[SocketAddr]) -> Result<Vec<SocketAddr>, NetError> {
        if found.is_empty() {
            return Err(NetError::Unknown(name.to_owned()));
        }
        for address in found {
            if !self.opens_name(name, address.port()) {
                self.check_address(name, address.ip(), address.port())?;
            }
        }
        Ok(found.to_vec())
    }

    fn check_name(&self, name: &str, port: u16) -> Result<(), NetError> {
        let plain = name.trim_end_matches('.').to_ascii_lowercase();
        if plain.is_empty() {
            return Err(NetError::NoHost);
        }
        let inner = !plain.contains('.')
            || INNER_NAMES.iter().any(|inner| {
                plain.strip_suffix(inner).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            })
            // `url` reads every spelling of an IPv4 address; what still looks like one is a trick.
            || plain.rsplit('.').next().is_some_and(|last| last.starts_with(|c: char| c.is_ascii_digit()));
        if inner && !self.opens_name(&plain, port) {
            return Err(NetError::Inner { host: name.to_owned(), place: Place::InnerName });
        }
        Ok(())
    }

    fn check_address(&self, host: &str, address: IpAddr, port: u16) -> Result<(), NetError> {
        let place = Place::of(address);
        let open = place == Place::Public
            || self.openings.iter().any(|opening| opening.has_address(address, port, place));
        if open { Ok(()) } else { Err(NetError::Inner { host: host.to_owned(), place }) }
    }

    fn opens_name(&self, name: &str, port: u16) -> bool {
        self.openings.iter().any(|opening| opening.has_name(name, port))
    }
}

/// What is odd about a web address's port, if anything: worth a word to whoever is asked.
pub fn odd_port(url: &Url) -> Option<u16> {
    url.port().filter(|port| !matches!(port, 80 | 443 | 8080 | 8443))
}
