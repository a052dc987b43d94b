//! Keys of an API: where they go in a request, and the environment variables that they come from.

use oas3::Spec;
use oas3::spec::{Operation, SecurityRequirement, SecurityScheme};

use super::names::variable;
use super::reference::followed;

/// What a request has so that the server accepts it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Keys {
    /// Names of headers and their values, such as `Bearer ${API_TOKEN}`.
    pub headers: Vec<(String, String)>,
    pub query: Vec<(String, String)>,
    /// The variables, each with what its value is.
    pub variables: Vec<(String, &'static str)>,
}

/// The keys of an operation. Of several ways to be accepted the first that can be sent is taken; none, if keys are
/// optional.
///
/// # Errors
/// No way can be sent, and why.
pub(super) fn keys(spec: &Spec, operation: &Operation) -> Result<Keys, String> {
    let ways = if operation.security.is_empty() { &spec.security } else { &operation.security };
    if ways.is_empty() || ways.iter().any(|SecurityRequirement(schemes)| schemes.is_empty()) {
        return Ok(Keys::default());
    }
    let mut why = String::new();
    for SecurityRequirement(schemes) in ways {
        let mut keys = Keys::default();
        let added = schemes.iter().try_for_each(|(name, _)| add(spec, name, &mut keys));
        match added {
            Ok(()) => return Ok(keys),
            Err(text) => why = text,
        }
    }
    Err(why)
}

fn add(spec: &Spec, name: &str, keys: &mut Keys) -> Result<(), String> {
    let components = spec.components.as_ref();
    let named = components.map(|components| &components.security_schemes);
    let found = named.and_then(|named| Some((named.get(name)?, named)));
    let Some((scheme, named)) = found else {
        return Err(format!("its security scheme {name:?} is not in `components.securitySchemes`"));
    };
    let scheme = followed(scheme, named, "securitySchemes")?;
    let variable = variable(&spec.info.title, name);
    let key = format!("${{{variable}}}");
    let authorization = |prefix: &str| ("Authorization".to_owned(), format!("{prefix} {key}"));
    let what = match scheme {
        SecurityScheme::ApiKey { name, location, .. } => {
            match location.as_str() {
                "header" => keys.headers.push((name.clone(), key)),
                "query" => keys.query.push((name.clone(), key)),
                "cookie" => keys.headers.push(("Cookie".to_owned(), format!("{name}={key}"))),
                other => return Err(format!("its key goes into {other:?}, which is no place")),
            }
            "the key"
        }
        SecurityScheme::Http { scheme, .. } if scheme.eq_ignore_ascii_case("basic") => {
            keys.headers.push(authorization("Basic"));
            "user:password in Base64"
        }
        SecurityScheme::Http { scheme, .. } if scheme.eq_ignore_ascii_case("bearer") => {
            keys.headers.push(authorization("Bearer"));
            "the token"
        }
        SecurityScheme::OAuth2 { .. } | SecurityScheme::OpenIdConnect { .. } => {
            keys.headers.push(authorization("Bearer"));
            "an access token"
        }
        SecurityScheme::Http { scheme, .. } => {
            return Err(format!("it needs authentication by {scheme:?}, which cannot be sent"));
        }
        SecurityScheme::MutualTls { .. } => {
            return Err("it needs a certificate of the client, which cannot be sent".to_owned());
        }
    };
    keys.variables.push((variable, what));
    Ok(())
}
