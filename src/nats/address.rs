//! The address of a server, whose user, password and token are never shown.

use std::{env, fmt, str::FromStr};

use async_nats::{ConnectOptions, ServerAddr};
use percent_encoding::percent_decode_str;
use reqwest::Url;

use crate::NatsError;
use crate::net::secret::Secret;

/// The variables for a server whose address has no user.
const USER: &str = "NATS_USER";
const PASSWORD: &str = "NATS_PASSWORD";
const TOKEN: &str = "NATS_TOKEN";
/// A file of certificates, in PEM, besides those of the system.
const CA: &str = "NATS_CA";

/// Addresses of the servers of a cluster, or of one, such as `nats://host:4222` or `tls://user:password@host`.
#[derive(Clone)]
pub struct NatsAddress {
    pub(crate) servers: Vec<ServerAddr>,
    shown: String,
}

/// User and password, or a token, before the host of an address.
enum Credentials {
    User(String, String),
    Token(String),
}

impl Credentials {
    fn of(url: &Url) -> Option<Self> {
        let text = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
        match (url.username(), url.password()) {
            ("", None) => None,
            (user, Some(password)) => Some(Self::User(text(user), text(password))),
            // A name alone is a token.
            (token, None) => Some(Self::Token(text(token))),
        }
    }
}

impl FromStr for NatsAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = "expected the address of a NATS server, such as nats://host:4222 or tls://host";
        let read = |part: &str| {
            // What follows may repeat it, and is hidden from here on.
            let before = part.rsplit_once('@').map_or("", |(before, _)| before);
            let user = before.rsplit("//").next().unwrap_or_default();
            drop([Secret::new(user), Secret::new(user.split_once(':').unwrap_or_default().1)]);
            let server: ServerAddr = part.trim().parse().map_err(|_| wrong.to_owned())?;
            let url = server.clone().into_inner();
            // Decoded, it is another text.
            match Credentials::of(&url) {
                Some(Credentials::User(_, secret) | Credentials::Token(secret)) => {
                    drop(Secret::new(&secret))
                }
                None => {}
            }
            let is_known = matches!(server.scheme(), "nats" | "tls") && url.path().len() < 2;
            if is_known && !server.host().is_empty() { Ok(server) } else { Err(wrong.to_owned()) }
        };
        let servers: Vec<_> = text.split(',').map(read).collect::<Result<_, _>>()?;
        let show = |server: &ServerAddr| {
            format!("{}://{}:{}", server.scheme(), server.host(), server.port())
        };
        let shown = servers.iter().map(show).collect::<Vec<_>>().join(",");
        Ok(Self { servers, shown })
    }
}

impl NatsAddress {
    /// The address of the server and the id of a job, of `nats://host:4222/JOB`.
    ///
    /// # Errors
    /// What is expected.
    pub fn with_job(text: &str) -> Result<(Self, String), String> {
        let (server, job) = text.rsplit_once('/').filter(|(server, _)| !server.ends_with('/')).ok_or(
            "expected the address of a job, such as nats://host:4222/JOB; toolyard jobs lists them",
        )?;
        let is_id = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if job.is_empty() || !job.chars().all(is_id) {
            return Err(
                "expected the id of a job, such as 0f3a, as toolyard jobs lists it".to_owned()
            );
        }
        Ok((server.parse()?, job.to_owned()))
    }

    /// The options of a connection.
    ///
    /// # Errors
    /// A variable has a user without a password.
    pub(crate) fn options(&self) -> Result<ConnectOptions, NatsError> {
        let given = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let secret = |name| given(name).inspect(|value| drop(Secret::new(value)));
        let mut options = ConnectOptions::new().name("toolyard").max_reconnects(None);
        if let Some(file) = given(CA) {
            options = options.add_root_certificates(file.into());
        }
        let said =
            self.servers.iter().find_map(|server| Credentials::of(&server.clone().into_inner()));
        Ok(match (said, given(USER), secret(PASSWORD), secret(TOKEN)) {
            (Some(Credentials::User(user, password)), ..) => {
                options.user_and_password(user, password)
            }
            (Some(Credentials::Token(token)), ..) | (None, None, _, Some(token)) => {
                options.token(token)
            }
            (None, Some(user), Some(password), _) => options.user_and_password(user, password),
            (None, Some(_), None, _) => {
                let text = format!("{USER} is set, and {PASSWORD} is not; set both");
                return Err(NatsError::Address(text));
            }
            (None, None, _, None) => options,
        })
    }
}

impl fmt::Display for NatsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for NatsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_never_shows_its_secrets() {
        let secret = "hunter2-hunter2";
        for (text, shown) in [
            (format!("nats://me:{secret}@a:1"), "nats://a:1"),
            (format!("tls://{secret}@b"), "tls://b:4222"),
            (format!("a:5,nats://me:{secret}@b"), "nats://a:5,nats://b:4222"),
        ] {
            let address: NatsAddress = text.parse().unwrap();
            assert_eq!(address.to_string(), shown);
            assert!(!format!("{address:?}").contains(secret));
            let said = format!("it said {secret}");
            assert!(!crate::net::known::without_known(&said).contains(secret));
        }
        let wrong = format!("nats://u:{secret}-too@a:x").parse::<NatsAddress>().unwrap_err();
        assert!(wrong.contains("nats://host"));
        assert!(!crate::net::known::without_known(&format!("{secret}-too")).contains(secret));
        for wrong in ["", "http://a", "nats://", "nats://a/b", "ws://a", "nats://a:x"] {
            assert!(wrong.parse::<NatsAddress>().unwrap_err().contains("nats://host"), "{wrong}");
        }
    }

    #[test]
    fn the_address_of_a_job_has_both() {
        let (server, job) = NatsAddress::with_job("nats://a:1/ab-3").unwrap();
        assert_eq!((server.to_string().as_str(), job.as_str()), ("nats://a:1", "ab-3"));
        assert!(NatsAddress::with_job("nats://a").is_err());
    }
}
