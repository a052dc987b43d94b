//! Which addresses a request may reach. Servers of clouds answer at link-local addresses with keys of the machine, so
//! a model that chooses an address, or a server that redirects, must not lead there.
//!
//! Names are checked where they are resolved for the connection itself: nothing resolves them a second time.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::{fmt, io, sync::Arc};

use futures::future::{BoxFuture, FutureExt};
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// An address that is not reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    host: String,
    address: IpAddr,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, address } = self;
        write!(
            f,
            "{host} is not called: {address} is a link-local or metadata address, which may give away keys of "
        )?;
        f.write_str("this machine; `any_address = true` in the manifest's [source] allows it")
    }
}

impl std::error::Error for Refused {}

/// Metadata services outside of the link-local ranges: Alibaba, Azure, Oracle.
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

/// Whether an address is link-local or that of a metadata service, also where IPv6 contains it.
fn is_refused(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local() || METADATA_4.contains(&address),
        IpAddr::V6(address) => {
            address.is_unicast_link_local()
                || METADATA_6.contains(&address)
                || contained(address).is_some_and(|inner| is_refused(IpAddr::V4(inner)))
        }
    }
}

/// The IPv4 address within: mapped or compatible (RFC 4291), NAT64 (RFC 6052), 6to4 (RFC 3056).
fn contained(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let inner = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(inner(high, low))
        }
        [0x2002, high, low, ..] => Some(inner(high, low)),
        _ => None,
    }
}

/// Refuses an address that is written as a number. Names are checked by [`Checked`].
///
/// # Errors
/// It is refused.
pub(super) fn check(url: &Url) -> Result<(), Refused> {
    let host = url.host_str().unwrap_or_default();
    // The parser has brought every spelling of a number, such as octal, into the usual form.
    let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() else { return Ok(()) };
    match is_refused(address) {
        true => Err(Refused { host: host.to_owned(), address }),
        false => Ok(()),
    }
}

/// Looks a name up.
type Lookup = dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync;

/// Resolves names, but those with a refused address.
pub(super) struct Checked(Arc<Lookup>);

impl Checked {
    /// As the system resolves them.
    pub fn system() -> Self {
        Self::by(|name| {
            async move { Ok(tokio::net::lookup_host((name, 0)).await?.collect()) }.boxed()
        })
    }

    fn by(
        lookup: impl Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self(Arc::new(lookup))
    }
}

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let found = (self.0)(host.clone());
        Box::pin(async move {
            let found = found.await?;
            // One is enough: which of them is connected to is decided later.
            if let Some(bad) = found.iter().find(|found| is_refused(found.ip())) {
                return Err(Refused { host, address: bad.ip() }.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use reqwest::Method;
    use reqwest::header::HeaderMap;

    use super::*;
    use crate::ToolErrorKind;
    use crate::http::sending::{Outgoing, send};
    use crate::net::client;

    fn refused(url: &str) -> bool {
        check(&Url::parse(url).unwrap()).is_err()
    }

    #[test]
    fn metadata_addresses_are_refused_in_every_spelling() {
        for url in [
            "http://169.254.169.254/latest",
            "http://0xa9fea9fe",
            "http://2852039166",
            "http://0251.0376.0251.0376",
            "http://[fe80::1]",
            "http://[febf::1]",
            "http://[fd00:ec2::254]",
            "http://100.100.100.200",
            "http://168.63.129.16",
            "http://[::ffff:169.254.169.254]",
            "http://[::a9fe:a9fe]",
            "http://[64:ff9b::a9fe:a9fe]",
            "http://[2002:a9fe:a9fe::1]",
        ] {
            assert!(refused(url), "{url}");
        }
        for url in [
            "http://127.0.0.1:1",
            "http://[::1]",
            "http://10.0.0.1",
            "http://169.253.0.1",
            "http://h",
            "http://[fec0::1]",
        ] {
            assert!(!refused(url), "{url}");
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_there_is_refused_at_the_connection() {
        let lookup = |_: String| {
            let found = ["127.0.0.1:0", "169.254.169.254:0"].map(|text| text.parse().unwrap());
            async move { Ok(found.to_vec()) }.boxed()
        };
        let resolver = Arc::new(Checked::by(lookup));
        let client = client::builder().no_proxy().dns_resolver(resolver).build().unwrap();
        let outgoing = Outgoing {
            method: Method::GET,
            url: Url::parse("http://harmless.example/").unwrap(),
            headers: HeaderMap::new(),
            body: None,
        };
        let error = send(&client, outgoing, false).await.unwrap_err();
        assert_eq!(error.kind, ToolErrorKind::Unavailable);
        assert!(
            error.text.starts_with("harmless.example is not called: 169.254.169.254 is"),
            "{error}"
        );
    }
}
