//! Variables of our own environment that the program of a server gets beside those of its entry. None of them may hold a
//! key.

use std::ffi::{OsStr, OsString};

use reqwest::Url;

use crate::net::client::names_a_key;
use crate::net::known;

/// Without these a program finds neither its interpreter nor its files.
const NEEDED: [&str; 9] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"];
/// Without these `npx` and `uvx` load nothing behind the proxy of a company. Capitals are like small letters.
const USEFUL: &str = "HTTPS_PROXY HTTP_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR \
                      NIX_SSL_CERT_FILE REQUESTS_CA_BUNDLE CURL_CA_BUNDLE AWS_CA_BUNDLE GIT_SSL_CAINFO \
                      DENO_CERT NODE_EXTRA_CA_CERTS NODE_USE_ENV_PROXY NODE_USE_SYSTEM_CA XDG_CONFIG_HOME \
                      XDG_CONFIG_DIRS XDG_CACHE_HOME XDG_DATA_HOME XDG_DATA_DIRS XDG_STATE_HOME \
                      XDG_RUNTIME_DIR XDG_BIN_HOME";
/// Beginnings of the names of package managers' settings.
const FAMILIES: [&str; 3] = ["NPM_CONFIG_", "UV_", "PIP_"];
/// Loads code into each program of Node.js, such as that of a debugger, which would write between the messages.
const LOADS_CODE: &str = "NODE_OPTIONS";

/// Whether a server's program gets this variable; `None`: it is none of those that matter.
fn is_passed(name: &str, value: &str) -> Option<bool> {
    let upper = name.to_ascii_uppercase();
    if NEEDED.contains(&name) || upper == LOADS_CODE {
        return Some(upper != LOADS_CODE);
    }
    let is_in_family = FAMILIES.iter().any(|family| upper.starts_with(family));
    if !is_in_family && !USEFUL.split(' ').any(|useful| useful == upper) {
        return None;
    }
    // The user of an index may be a token.
    let is_login = is_in_family && (names_a_key(name) || upper.ends_with("_USERNAME"));
    let words = value.split(|c: char| c.is_whitespace() || c == ',');
    let is_proxy = upper.ends_with("PROXY");
    let has_key = words.into_iter().any(|word| has_login(word, is_proxy));
    Some(!is_login && !has_key && known::without_keys(value) == value)
}

/// Whether an address may have a key in it: a login, a query, or a long part with letters and digits. An index may have
/// its name before its address, and a proxy may be without a scheme.
fn has_login(word: &str, is_proxy: bool) -> bool {
    let Some((scheme, _)) = word.split_once("://") else { return is_proxy && word.contains('@') };
    let begin = scheme.rfind('=').map_or(0, |at| at + 1);
    let Ok(url) = Url::parse(&word[begin..]) else { return word.contains('@') };
    let has_user = !url.username().is_empty() || url.password().is_some();
    let mut parts = url.path_segments().into_iter().flatten();
    has_user || url.query().is_some() || parts.any(known::is_random)
}

/// The variables that a server's program gets.
pub(super) fn passed_on() -> impl Iterator<Item = (OsString, OsString)> {
    let is_passed =
        |name: &OsStr, value: &OsStr| is_passed(&name.to_string_lossy(), &value.to_string_lossy());
    std::env::vars_os().filter(move |(name, value)| is_passed(name, value) == Some(true))
}

/// The names of set variables that such programs often need, and do not get: they may hold keys, or load code.
pub fn withheld() -> Vec<String> {
    let all = std::env::vars_os();
    let all = all.map(|(name, value)| [name, value].map(|it| it.to_string_lossy().into_owned()));
    let all =
        all.filter(|[name, value]| !value.is_empty() && is_passed(name, value) == Some(false));
    all.map(|[name, _]| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_certificates_and_settings_of_package_managers_are_passed_on() {
        for (name, value) in [
            ("PATH", "/bin:/home/me@host/bin"),
            ("HTTPS_PROXY", "http://proxy.corp:3128"),
            ("https_proxy", "http://proxy.corp:3128/"),
            ("All_Proxy", "socks5h://10.0.0.1:1080"),
            ("NO_PROXY", "localhost,127.0.0.1,.corp"),
            ("no_proxy", "*"),
            ("HTTP_PROXY", "proxy.corp:3128"),
            ("SSL_CERT_FILE", "/etc/ssl/corp-2026-abcdef1234567890.pem"),
            ("NODE_EXTRA_CA_CERTS", "/etc/ssl/corp.pem"),
            ("npm_config_registry", "https://art.corp/artifactory/api/npm/npm-virtual-remote/"),
            ("NPM_CONFIG_CAFILE", "/etc/ssl/corp.pem"),
            ("npm_config_@corp:registry", "https://npm.corp/"),
            ("npm_config_strict_ssl", "false"),
            ("UV_DEFAULT_INDEX", "https://pypi.corp/simple"),
            ("UV_INDEX", "corp=https://pypi.corp/simple https://other.corp/simple"),
            ("UV_HTTP_TIMEOUT", "120"),
            ("UV_KEYRING_PROVIDER", "subprocess"),
            ("PIP_INDEX_URL", "https://pypi.corp/simple"),
            ("PIP_TRUSTED_HOST", "pypi.corp"),
            ("XDG_CACHE_HOME", "/home/me/.cache"),
        ] {
            assert_eq!(is_passed(name, value), Some(true), "{name}={value}");
        }
    }

    #[test]
    fn nothing_that_may_hold_a_key_is_passed_on() {
        for (name, value) in [
            ("HTTPS_PROXY", "http://me:hunter22@proxy.corp:3128"),
            ("https_proxy", "me:hunter22@proxy.corp:3128"),
            ("ALL_PROXY", "socks5://hunter22@proxy"),
            ("HTTP_PROXY", "http://me:hunter/22@proxy"),
            ("npm_config__auth", "aHVudGVyMjI="),
            ("NPM_CONFIG__AUTHTOKEN", "hunter22"),
            ("npm_config_//registry.npmjs.org/:_authToken", "hunter22"),
            ("npm_config_//npm.corp/:_password", "hunter22"),
            ("npm_config_https_proxy", "http://me:hunter22@proxy"),
            ("npm_config_otp_secret", "1"),
            ("UV_INDEX_CORP_PASSWORD", "hunter22"),
            ("UV_INDEX_CORP_USERNAME", "hunter22"),
            ("UV_PUBLISH_TOKEN", "hunter22"),
            ("UV_INDEX", "corp=https://me:hunter22@pypi.corp/simple"),
            ("UV_EXTRA_INDEX_URL", "https://a.corp/simple,https://hunter22@b.corp/simple"),
            ("PIP_INDEX_URL", "https://me:hunter22@pypi.corp/simple"),
            ("PIP_EXTRA_INDEX_URL", "https://pypi.corp/simple?token=hunter22"),
            ("PIP_INDEX_URL", "https://dl.corp/a1b2c3d4e5f6a7b8/org/simple/"),
            ("UV_THING", "sk-abcdefgh12345678"),
            ("NODE_OPTIONS", "--require /x/debugger.js"),
        ] {
            assert_eq!(is_passed(name, value), Some(false), "{name}={value}");
        }
        for name in
            ["OPENAI_API_KEY", "GITHUB_TOKEN", "AWS_PROFILE", "XDG_SESSION_ID", "UVX", "PIPE"]
        {
            assert_eq!(is_passed(name, "x"), None, "{name}");
        }
    }
}
