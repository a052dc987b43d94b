//! The certificates that an agent trusts: the system's and that of the session, in a file for its own user.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::place::SessionFolder;

/// Variables by which runtimes find certificates.
const FILES: [&str; 7] = [
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "DENO_CERT",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
];
const PROXIES: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];

/// The file of a session. It is deleted with this value; the next session deletes what a killed one leaves.
#[derive(Debug)]
pub struct TrustBundle {
    folder: SessionFolder,
    /// Whether the system has no certificates, so that other hosts than those of the list cannot be reached.
    pub is_alone: bool,
}

/// The file of certificates could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the file of certificates cannot be written: {0}")]
pub struct BundleError(#[from] io::Error);

impl TrustBundle {
    /// Writes the system's certificates and this one.
    ///
    /// # Errors
    /// There is no private folder, or it cannot be written.
    pub fn new(own: &str) -> Result<Self, BundleError> {
        let folder = SessionFolder::new()?;
        let of_system = rustls_native_certs::load_native_certs().certs;
        let mut text = own.to_owned();
        for certificate in &of_system {
            // Writing to a string never fails.
            let _ = write!(text, "\n{}", pem(certificate));
        }
        let bundle = Self { folder, is_alone: of_system.is_empty() };
        let path = bundle.path();
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())?;
        Ok(bundle)
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("certificates.pem")
    }

    /// The variables that lead an agent through the proxy at this address, and make it trust the file.
    pub fn variables(&self, proxy: &str) -> Vec<(String, String)> {
        let path = self.path().display().to_string();
        let files = FILES.map(|name| (name.to_owned(), path.clone()));
        let proxies = PROXIES.map(|name| (name.to_owned(), proxy.to_owned()));
        // Node asks for a proxy only if it is told to.
        let node = ("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned());
        proxies.into_iter().chain(files).chain([node]).collect()
    }
}

/// A certificate as text.
fn pem(der: &[u8]) -> String {
    let base64 = STANDARD.encode(der);
    let lines = base64.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line) + "\n");
    format!("-----BEGIN CERTIFICATE-----\n{}-----END CERTIFICATE-----\n", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_file_is_for_its_user_alone_and_goes_with_the_session() {
        let bundle = TrustBundle::new("OWN\n").unwrap();
        let path = bundle.path();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("OWN\n") && !text.contains("PRIVATE KEY"));
        let variables = bundle.variables("http://u:t@127.0.0.1:1");
        let value = |name: &str| variables.iter().find(|(it, _)| it == name).unwrap().1.clone();
        assert_eq!(value("HTTPS_PROXY"), "http://u:t@127.0.0.1:1");
        assert_eq!(Path::new(&value("NODE_EXTRA_CA_CERTS")), path);
        drop(bundle);
        assert!(!path.exists());
    }

    #[test]
    fn a_certificate_is_written_in_lines() {
        let text = pem(&[7; 60]);
        assert!(text.lines().all(|line| line.len() <= 64) && text.ends_with("-----\n"));
    }
}
