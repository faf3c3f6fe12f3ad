//! The one maker of HTTP clients: roots, proxies, timeouts.

mod post;

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use settings::provider::Network;
use url::{Host, Position, Url};

use crate::error::{Class, Error};

pub use post::{Post, Posted};

const CONNECT_TIMEOUT_S: u64 = 10;

/// Makes clients and keeps them, one for each way of connecting.
///
/// Reading the system's certificates costs milliseconds and megabytes, so it is done when the first
/// `https` address is called and not before.
#[derive(Default, Clone)]
pub struct Http {
    clients: Arc<Mutex<HashMap<Way, reqwest::Client>>>,
}

/// What makes two connections differ.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Way {
    tls: bool,
    loopback: bool,
    proxy: Option<String>,
    ca_file: Option<String>,
    connect_timeout_s: u64,
}

impl Http {
    /// Starts with no client.
    pub fn new() -> Self {
        Self::default()
    }

    /// The client for `url` under a provider's network settings.
    pub fn client(&self, url: &Url, network: &Network) -> Result<reqwest::Client, Error> {
        let way = Way {
            tls: url.scheme() == "https",
            loopback: is_loopback(url),
            proxy: network.proxy.clone(),
            ca_file: network.ca_file.clone(),
            connect_timeout_s: network.connect_timeout_s.unwrap_or(CONNECT_TIMEOUT_S),
        };
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&way) {
            return Ok(client.clone());
        }
        let client = build(&way)?;
        clients.insert(way, client.clone());
        Ok(client)
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Http")
    }
}

fn build(way: &Way) -> Result<reqwest::Client, Error> {
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("caiman/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(Duration::from_secs(way.connect_timeout_s))
        // A redirect would carry the key to an address nobody configured, and turn POST into GET.
        .redirect(reqwest::redirect::Policy::none())
        .tcp_nodelay(true)
        .tls_backend_preconfigured(tls(way)?);
    match way.proxy.as_deref() {
        Some("none") => builder = builder.no_proxy(),
        Some(address) => {
            let proxy = reqwest::Proxy::all(address).map_err(|_| {
                Error::new(Class::BadRequest, "network.proxy is not a URL: write http://host:port")
            })?;
            builder = builder.proxy(proxy);
        }
        // The system's proxy serves the outside; a local model server is not outside.
        None if way.loopback => builder = builder.no_proxy(),
        None => {}
    }
    builder.build().map_err(|error| Error::new(Class::Network, format!("HTTP client: {error}")))
}

fn tls(way: &Way) -> Result<ClientConfig, Error> {
    let mut roots = RootCertStore::empty();
    if way.tls {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        // Certificates the system has and cannot read are the system's business, not a failure.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if let Some(path) = &way.ca_file {
            add_ca_file(&mut roots, Path::new(path))?;
        }
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::new(Class::Network, format!("TLS: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn add_ca_file(roots: &mut RootCertStore, path: &Path) -> Result<(), Error> {
    let bad = |what: &dyn fmt::Display| {
        Error::new(Class::BadRequest, format!("network.ca_file {}: {what}", path.display()))
    };
    let file = File::open(path).map_err(|error| bad(&error))?;
    let certificates: Vec<_> = CertificateDer::pem_reader_iter(BufReader::new(file))
        .collect::<Result<_, _>>()
        .map_err(|error| bad(&error))?;
    let (added, _) = roots.add_parsable_certificates(certificates);
    if added == 0 { Err(bad(&"no certificate in PEM form inside")) } else { Ok(()) }
}

/// Whether a URL leads to this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Host and port, for messages; a name and password in the address stay out of them.
pub(crate) fn address(url: &Url) -> String {
    url[Position::BeforeHost..Position::AfterPort].to_owned()
}

/// What a failed exchange means. `host` names who was called.
pub(crate) fn failure(error: &reqwest::Error, host: &str) -> Error {
    let class = if error.is_timeout() { Class::Timeout } else { Class::Network };
    let what = if error.is_connect() {
        format!("cannot connect to {host}")
    } else if error.is_timeout() {
        format!("{host} did not answer in time")
    } else {
        format!("the connection to {host} failed")
    };
    Error::new(class, format!("{what}: {}", root_cause(error)))
}

/// The innermost reason: the outer ones only repeat the address.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn local_servers_are_told_from_the_outside() {
        for local in
            ["http://LOCALHOST:1", "http://a.localhost", "http://127.0.0.1:8/v1", "http://[::1]:9"]
        {
            assert!(is_loopback(&url(local)), "{local}");
        }
        for outside in
            ["https://api.example.com", "http://10.0.0.1", "http://localhost.example.com"]
        {
            assert!(!is_loopback(&url(outside)), "{outside}");
        }
    }

    #[test]
    fn an_address_has_its_port_and_no_password() {
        assert_eq!(address(&url("http://me:secret@10.0.0.1:8080/v1")), "10.0.0.1:8080");
        assert_eq!(address(&url("https://[::1]/v1")), "[::1]");
    }

    #[test]
    fn a_bad_certificate_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        std::fs::write(&file, "not a certificate").unwrap();
        let network = Network { ca_file: Some(file.display().to_string()), ..Network::default() };
        let error = Http::new().client(&url("https://x.example"), &network).unwrap_err();
        assert!(error.message.contains("ca.pem"), "{error}");
        let missing = Network { ca_file: Some("/nowhere/ca.pem".into()), ..Network::default() };
        let error = Http::new().client(&url("https://x.example"), &missing).unwrap_err();
        assert!(error.message.contains("/nowhere/ca.pem"), "{error}");
    }

    #[test]
    fn one_way_of_connecting_shares_one_client() {
        let http = Http::new();
        let network = Network::default();
        http.client(&url("http://localhost:1/a"), &network).unwrap();
        http.client(&url("http://127.0.0.1:2/b"), &network).unwrap();
        assert_eq!(http.clients.lock().unwrap().len(), 1);
    }
}
