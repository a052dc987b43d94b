//! A certificate authority for one session. Its key is in memory only, and ends with the session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{ToSpan, Zoned};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

/// The name of the authority, for people who look at a certificate.
const NAME: &str = "toolyard, for one session";
/// How long certificates are valid, in days. No session takes so long, and some clients refuse a long time.
const VALID: i64 = 90;
/// The most hosts whose certificates are kept.
const MOST: usize = 256;

/// An authority that a client trusts if it reads [`Authority::pem`].
pub struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
    /// The key of all certificates of hosts.
    key: KeyPair,
    known: Mutex<HashMap<String, TlsAcceptor>>,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The keys are secret.
        f.write_str("Authority")
    }
}

impl Authority {
    /// # Errors
    /// The system has no random numbers.
    pub fn new() -> Result<Self, rcgen::Error> {
        let mut params = params(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.distinguished_name.push(DnType::CommonName, NAME);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate()?;
        let pem = params.self_signed(&key)?.pem();
        let issuer = Issuer::new(params, key);
        Ok(Self { pem, issuer, key: KeyPair::generate()?, known: Mutex::default() })
    }

    /// The certificate that clients have to trust.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// The server's side of TLS for a host. It offers HTTP/1.1 alone.
    ///
    /// # Errors
    /// The host is no name that a certificate can have.
    pub fn acceptor(&self, host: &str) -> Result<TlsAcceptor, Box<dyn std::error::Error>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(acceptor) = known.get(host) {
            return Ok(acceptor.clone());
        }
        let mut params = params(vec![host.to_owned()])?;
        params.is_ca = IsCa::ExplicitNoCa;
        params.use_authority_key_identifier_extension = true;
        params
            .distinguished_name
            .push(DnType::CommonName, host.chars().take(64).collect::<String>());
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.signed_by(&self.key, &self.issuer)?;
        let key = PrivateKeyDer::try_from(self.key.serialize_der())?;
        let config = ServerConfig::builder().with_no_client_auth();
        let mut config = config.with_single_cert(vec![certificate.der().clone()], key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(host.to_owned(), acceptor.clone());
        Ok(acceptor)
    }
}

/// A certificate for these hosts that is valid from yesterday on, since clocks differ.
fn params(hosts: Vec<String>) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(hosts)?;
    let today = Zoned::now().date();
    let date = |days: i64| {
        let date = today.checked_add(days.days()).unwrap_or(today);
        date_time_ymd(i32::from(date.year()), date.month() as u8, date.day() as u8)
    };
    (params.not_before, params.not_after) = (date(-1), date(VALID));
    params.distinguished_name = rcgen::DistinguishedName::new();
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authority_signs_for_names_and_addresses_and_shows_no_key() {
        let authority = Authority::new().unwrap();
        assert!(authority.pem().starts_with("-----BEGIN CERTIFICATE-----"));
        for host in ["api.openai.com", "127.0.0.1", "::1", "api.openai.com"] {
            assert!(authority.acceptor(host).is_ok(), "{host}");
        }
        assert!(authority.acceptor("b\u{e4}d\n").is_err());
        assert_eq!(authority.known.lock().unwrap().len(), 3);
        assert_eq!(format!("{authority:?}"), "Authority");
        assert_ne!(Authority::new().unwrap().pem(), authority.pem());
    }
}
