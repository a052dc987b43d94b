//! The path of an operation as its document writes it: texts and places of arguments, perhaps with a fixed query and a
//! fragment, which no request has.

use percent_encoding::percent_decode_str;

/// A text with places of arguments.
pub(super) type Pieces = Vec<PathPiece>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum PathPiece {
    Text(String),
    /// The name of an argument, as the server knows it.
    Place(String),
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct Path {
    pub path: Pieces,
    /// Names and values of the fixed query.
    pub query: Vec<(String, Pieces)>,
}

impl Path {
    /// # Errors
    /// The text is not a path, or cannot be sent, in words.
    pub fn read(text: &str) -> Result<Self, String> {
        if !text.starts_with('/') {
            return Err("expected a path that begins with `/`".to_owned());
        }
        let text = text.split('#').next().unwrap_or_default();
        if let Some(at) = text.find("{?").or_else(|| text.find("{&")) {
            let part: String = text[at..].chars().take(40).collect();
            return Err(format!("{part:?} of its path is a template that cannot be sent"));
        }
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let mut pairs: Vec<(String, Pieces)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decoded(name);
            if pairs.iter().any(|(known, _)| *known == name) {
                return Err(format!(
                    "the query of its path has {name:?} twice, which cannot be sent"
                ));
            }
            let value = pieces(value)?.into_iter().map(|piece| match piece {
                PathPiece::Text(text) => PathPiece::Text(decoded(&text)),
                place @ PathPiece::Place(_) => place,
            });
            pairs.push((name, value.collect()));
        }
        Ok(Self { path: pieces(path)?, query: pairs })
    }

    /// The names of its places, in order.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        let all = self.path.iter().chain(self.query.iter().flat_map(|(_, value)| value));
        all.filter_map(|piece| match piece {
            PathPiece::Place(name) => Some(name.as_str()),
            PathPiece::Text(_) => None,
        })
    }
}

/// The text as manifests have it; `place` writes each place.
pub(super) fn template(pieces: &Pieces, place: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            PathPiece::Text(plain) => text.push_str(&escaped(plain)),
            PathPiece::Place(name) => {
                // `${NAME}` is an environment variable.
                if text.ends_with('$') {
                    text.pop();
                    text.push_str("%24");
                }
                text.push_str(&place(name));
            }
        }
    }
    text
}

/// A fixed text in a manifest, where braces have a meaning.
pub(super) fn escaped(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

fn pieces(text: &str) -> Result<Pieces, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, brace) = rest.split_at(at);
        let inside = brace.strip_prefix('{').and_then(|inside| inside.split_once('}'));
        let name = inside.filter(|(name, _)| !name.is_empty() && !name.contains('{'));
        let Some((name, after)) = name else {
            return Err(format!("expected {{name}} where its path has a brace, got {text:?}"));
        };
        if !before.is_empty() {
            pieces.push(PathPiece::Text(before.to_owned()));
        }
        pieces.push(PathPiece::Place(name.to_owned()));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(PathPiece::Text(rest.to_owned()));
    }
    Ok(pieces)
}

/// A part of a query without its encoding, where `+` is a space.
fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Result<String, String> {
        let path = Path::read(text)?;
        let place = |name: &str| format!("<{name}>");
        let query: Vec<_> = path
            .query
            .iter()
            .map(|(name, value)| format!(" {name}={}", template(value, place)))
            .collect();
        Ok(template(&path.path, place) + &query.concat())
    }

    #[test]
    fn query_and_fragment_are_split_from_a_path() {
        for (text, path) in [
            ("/s", "/s"),
            ("/s?kind=full", "/s kind=full"),
            ("/s#two", "/s"),
            ("/s?a=b%20c+d&e&k={k}#x?y", "/s a=b c d e= k=<k>"),
            ("/a/{b}:c/m{d-e}", "/a/<b>:c/m<d-e>"),
            ("/p/${id}/$count", "/p/%24<id>/$count"),
        ] {
            assert_eq!(written(text).as_deref(), Ok(path));
        }
        for text in ["users", "/a/{b", "/a}", "/{}", "/a{?b,c}", "/a?b=1&b=2"] {
            assert!(written(text).is_err(), "{text}");
        }
    }
}
