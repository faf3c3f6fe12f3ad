//! The HTTP client: certificates, proxies, and a resolver that asks the gate.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::Env;
use futures::future::BoxFuture;
use guard::net::Gate;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, NoProxy, Proxy};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use settings::Network;
use tokio::sync::OnceCell;
use url::Url;

use super::WebError;

const CONNECT_TIMEOUT_S: u64 = 10;
/// Clients kept: a page can name any number of ports.
const CLIENT_LIMIT: usize = 16;

/// Finds the addresses of a name.
pub(super) type Lookup =
    Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// The system's way to find addresses.
pub(super) fn system_lookup() -> Lookup {
    Arc::new(|name| {
        Box::pin(async move {
            // The port is filled in by the client.
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.collect())
        })
    })
}

/// Makes the clients when they are first needed: reading the system's certificates takes milliseconds, on
/// some machines seconds, and an `http` address does not need them.
///
/// There is one client a port, for a resolver is not told the port it resolves for, and the gate may let a
/// host through at one port only.
pub(super) struct Clients {
    gate: Arc<Gate>,
    lookup: Lookup,
    way: Way,
    tls: OnceCell<ClientConfig>,
    made: Mutex<HashMap<Door, Client>>,
}

/// What makes two clients differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Door {
    secure: bool,
    port: u16,
}

/// How to connect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Way {
    open_proxy: Option<String>,
    secure_proxy: Option<String>,
    no_proxy: Option<String>,
    ca_file: Option<String>,
    connect_timeout_s: u64,
}

impl Way {
    fn new(network: &Network, env: &Env) -> Self {
        let either = |lower: &str| {
            let value = env.get(lower).or_else(|| env.get(&lower.to_ascii_uppercase()));
            value.map(str::to_owned)
        };
        let (open_proxy, secure_proxy) = match network.proxy.as_deref() {
            Some("none") => (None, None),
            Some(proxy) => (Some(proxy.to_owned()), Some(proxy.to_owned())),
            // `HTTP_PROXY` in capitals can be set by a request where we run as a CGI script.
            None => (
                env.get("http_proxy").map(str::to_owned).or_else(|| either("all_proxy")),
                either("https_proxy").or_else(|| either("all_proxy")),
            ),
        };
        Self {
            open_proxy,
            secure_proxy,
            no_proxy: either("no_proxy"),
            ca_file: network.ca_file.clone(),
            connect_timeout_s: network.connect_timeout_s.unwrap_or(CONNECT_TIMEOUT_S),
        }
    }

    fn proxy(&self, door: Door) -> Option<&str> {
        if door.secure { self.secure_proxy.as_deref() } else { self.open_proxy.as_deref() }
    }

    /// The proxies' own names: they are the user's choice, so the gate does not judge them.
    fn proxy_names(&self) -> Vec<String> {
        let hosts = self.open_proxy.iter().chain(&self.secure_proxy);
        let hosts = hosts.filter_map(|proxy| Url::parse(proxy).ok());
        hosts.filter_map(|proxy| proxy.host_str().map(str::to_ascii_lowercase)).collect()
    }
}

impl Clients {
    pub(super) fn new(gate: Arc<Gate>, network: &Network, env: &Env, lookup: Lookup) -> Self {
        let way = Way::new(network, env);
        Self { gate, lookup, way, tls: OnceCell::new(), made: Mutex::default() }
    }

    /// The client for an address. Where a proxy would find the host's address, it is found and judged here
    /// too, for the proxy may reach what we may not; a name that only the proxy knows is the proxy's matter.
    pub(super) async fn client(&self, url: &Url) -> Result<Client, WebError> {
        let port = url.port_or_known_default().unwrap_or_default();
        let door = Door { secure: url.scheme() == "https", port };
        if let (Some(_), Some(name)) = (self.way.proxy(door), url.domain())
            && let Ok(found) = (self.lookup)(name.to_owned()).await
            && !found.is_empty()
        {
            self.gate.admit(name, &at_port(found, port))?;
        }
        if let Some(client) = self.made().get(&door) {
            return Ok(client.clone());
        }
        let client = self.make(door).await?;
        let mut made = self.made();
        if made.len() >= CLIENT_LIMIT {
            made.clear();
        }
        made.insert(door, client.clone());
        Ok(client)
    }

    fn made(&self) -> MutexGuard<'_, HashMap<Door, Client>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn make(&self, door: Door) -> Result<Client, WebError> {
        let tls = if door.secure {
            self.tls.get_or_try_init(|| secure_tls(self.way.ca_file.clone())).await?.clone()
        } else {
            tls(RootCertStore::empty())?
        };
        let resolver = Gated {
            gate: self.gate.clone(),
            lookup: self.lookup.clone(),
            proxies: self.way.proxy_names(),
            port: door.port,
        };
        let failed = |error: reqwest::Error| WebError::Client(error.to_string());
        let mut builder = Client::builder()
            .user_agent(concat!("caiman/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_secs(self.way.connect_timeout_s))
            // Redirects are followed one by one, each judged.
            .redirect(reqwest::redirect::Policy::none())
            .dns_resolver(Arc::new(resolver))
            .no_proxy()
            .tls_backend_preconfigured(tls);
        if let Some(address) = self.way.proxy(door) {
            let bypass = self.way.no_proxy.as_deref().and_then(NoProxy::from_string);
            builder = builder.proxy(Proxy::all(address).map_err(failed)?.no_proxy(bypass));
        }
        builder.build().map_err(failed)
    }
}

/// TLS with all certificates there are; read aside, for it blocks.
async fn secure_tls(ca_file: Option<String>) -> Result<ClientConfig, WebError> {
    let made = tokio::task::spawn_blocking(move || {
        let mut roots = RootCertStore::empty();
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        // Certificates the system has and cannot read are the system's business, not a failure.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if let Some(path) = &ca_file {
            let bad =
                |why: &dyn Display| WebError::Client(format!("network.ca_file {path}: {why}"));
            let file = File::open(path).map_err(|error| bad(&error))?;
            let certificates = CertificateDer::pem_reader_iter(BufReader::new(file));
            let certificates: Vec<_> =
                certificates.collect::<Result<_, _>>().map_err(|error| bad(&error))?;
            roots.add_parsable_certificates(certificates);
        }
        tls(roots)
    });
    made.await.map_err(|error| WebError::Client(error.to_string()))?
}

fn tls(roots: RootCertStore) -> Result<ClientConfig, WebError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| WebError::Client(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Hands the client only addresses that the gate has judged: the connection is made to those very ones.
struct Gated {
    gate: Arc<Gate>,
    lookup: Lookup,
    proxies: Vec<String>,
    port: u16,
}

impl Resolve for Gated {
    fn resolve(&self, name: Name) -> Resolving {
        let name = name.as_str().to_owned();
        let found = (self.lookup)(name.clone());
        let gate = (!self.proxies.contains(&name.to_ascii_lowercase())).then(|| self.gate.clone());
        let port = self.port;
        Box::pin(async move {
            let found = at_port(found.await?, port);
            let judged = match gate {
                Some(gate) => gate.admit(&name, &found)?,
                None => found,
            };
            Ok(Box::new(judged.into_iter()) as Addrs)
        })
    }
}

fn at_port(mut addresses: Vec<SocketAddr>, port: u16) -> Vec<SocketAddr> {
    for address in &mut addresses {
        address.set_port(port);
    }
    addresses
}
