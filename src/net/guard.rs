//! Limits the addresses that a client may reach. Cloud servers provide keys of the machine at link-local addresses, so
//! a model that chooses an address, or a server that redirects, must not lead there. Loopback and private networks stay
//! open: people debug the servers on their own machines.
//!
//! A name is checked when it is resolved for the connection itself. It is never resolved a second time, so a name
//! server cannot give a harmless address to the check and another one to the connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::{fmt, io, pin::Pin, sync::Arc};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{ClientBuilder, Url};

use crate::client;

/// The most redirects of one request.
pub const REDIRECTS: usize = 5;

/// An address that must not be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedAddress {
    host: String,
    /// The address; `None` if the name alone shows a metadata service.
    address: Option<IpAddr>,
    kind: RefusedAddressKind,
}

/// Why an address is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RefusedAddressKind {
    /// A link-local or metadata address, which may give away keys of this machine.
    Metadata,
    /// An address of no single server: unspecified, multicast or broadcast.
    Nobody,
}

impl fmt::Display for RefusedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, address, kind } = self;
        let address = address.map_or_else(|| host.clone(), |address| address.to_string());
        let why = match kind {
            RefusedAddressKind::Metadata => {
                "is a link-local or metadata address, which may give away keys of this machine"
            }
            RefusedAddressKind::Nobody => "is an unspecified, multicast or broadcast address",
        };
        write!(f, "{host} is not called: {address} {why}")
    }
}

impl std::error::Error for RefusedAddress {}

/// The redirects that a client follows itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirects {
    /// No redirects: the sender of the request decides, and checks the next address.
    None,
    /// Redirects to the same server, at most [`REDIRECTS`]. Another server would get the headers, which may be keys.
    SameServer,
}

/// The beginning of a client that checks the addresses of names, or of one for any address. [`check`] handles addresses
/// that are written as numbers: clients do not resolve them.
pub fn builder(any_address: bool, redirects: Redirects) -> ClientBuilder {
    let builder = match redirects {
        Redirects::None => client::builder(),
        Redirects::SameServer => client::builder().redirect(same_server(any_address)),
    };
    match any_address {
        true => builder,
        // A proxy resolves names itself, and so could lead anywhere.
        false => builder.no_proxy().dns_resolver(Arc::new(Checked::system())),
    }
}

fn same_server(any_address: bool) -> Policy {
    Policy::custom(move |attempt| {
        let from = attempt.previous().last().map(Url::origin);
        if attempt.previous().len() > REDIRECTS {
            return attempt.error(format!("more than {REDIRECTS} redirects"));
        }
        if from != Some(attempt.url().origin()) {
            let host = attempt.url().host_str().unwrap_or_default().to_owned();
            return attempt.error(format!("it redirects to another server, {host}"));
        }
        match check(attempt.url()) {
            Err(refused) if !any_address => attempt.error(refused),
            Ok(()) | Err(_) => attempt.follow(),
        }
    })
}

/// Refuses an address that is written as a number, and a name of a cloud's metadata service. Other names are checked
/// when they are resolved.
///
/// # Errors
/// The address is refused.
pub fn check(url: &Url) -> Result<(), RefusedAddress> {
    let host = url.host_str().unwrap_or_default();
    check_name(host)?;
    // The parser has converted every spelling of a number, such as octal, to the usual form.
    let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() else { return Ok(()) };
    check_address(host, address)
}

/// Names of Google's metadata service. Inside its cloud they lead to a link-local address; elsewhere they may lead
/// anywhere.
const METADATA_NAMES: [&str; 2] = ["metadata.google.internal", "metadata.goog"];

fn check_name(host: &str) -> Result<(), RefusedAddress> {
    let name = host.trim_end_matches('.');
    match METADATA_NAMES.iter().any(|metadata| name.eq_ignore_ascii_case(metadata)) {
        true => Err(RefusedAddress {
            host: host.to_owned(),
            address: None,
            kind: RefusedAddressKind::Metadata,
        }),
        false => Ok(()),
    }
}

fn check_address(host: &str, address: IpAddr) -> Result<(), RefusedAddress> {
    let refused = |kind| RefusedAddress { host: host.to_owned(), address: Some(address), kind };
    kind_of(address).map_or(Ok(()), |kind| Err(refused(kind)))
}

/// Metadata services outside the link-local ranges: Alibaba, Azure, Oracle.
const METADATA_4: [Ipv4Addr; 3] = [
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
];
/// Amazon, Google.
const METADATA_6: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

/// Why this address is refused; `None` if it is allowed.
fn kind_of(address: IpAddr) -> Option<RefusedAddressKind> {
    match address {
        IpAddr::V4(address) => kind_of_4(address),
        IpAddr::V6(address) if address.is_loopback() => None,
        IpAddr::V6(address) if address.is_multicast() => Some(RefusedAddressKind::Nobody),
        IpAddr::V6(address) if address.is_unicast_link_local() || METADATA_6.contains(&address) => {
            Some(RefusedAddressKind::Metadata)
        }
        IpAddr::V6(address) => contained(address).and_then(kind_of_4),
    }
}

fn kind_of_4(address: Ipv4Addr) -> Option<RefusedAddressKind> {
    if address.is_link_local() || METADATA_4.contains(&address) {
        return Some(RefusedAddressKind::Metadata);
    }
    // Systems use 0.0.0.0/8 for this machine.
    let is_nobody = address.octets()[0] == 0 || address.is_multicast() || address.is_broadcast();
    is_nobody.then_some(RefusedAddressKind::Nobody)
}

/// The IPv4 address inside: mapped or compatible (RFC 4291), NAT64 (RFC 6052), also with the prefix of a local network
/// (RFC 8215) in both of its usual lengths, and 6to4 (RFC 3056).
fn contained(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let inner = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(inner(high, low))
        }
        // A prefix of 48 bits has the address around the ninth byte, which is zero, and nothing after it.
        [0x64, 0xff9b, 1, first, middle, last, 0, 0] => Some(inner(first, middle << 8 | last >> 8)),
        [0x64, 0xff9b, 1, _, _, _, high, low] => Some(inner(high, low)),
        [0x2002, high, low, ..] => Some(inner(high, low)),
        _ => None,
    }
}

/// The addresses of a name, once they are known.
type AddressLookup = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;
/// Looks a name up.
type Lookup = dyn Fn(String) -> AddressLookup + Send + Sync;

/// Resolves names, except those with a refused address.
struct Checked(Arc<Lookup>);

impl Checked {
    /// Uses the system's resolver.
    fn system() -> Self {
        Self::by(|name| {
            Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.collect()) })
        })
    }

    fn by(lookup: impl Fn(String) -> AddressLookup + Send + Sync + 'static) -> Self {
        Self(Arc::new(lookup))
    }
}

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let found = (self.0)(host.clone());
        Box::pin(async move {
            check_name(&host)?;
            let found = found.await?;
            // One refused address suffices: the connection may choose any of them.
            for address in &found {
                check_address(&host, address.ip())?;
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests;
