//! The text of a fault in its text form: up to the end, or in quotes, in which `\"` is a quote.

use super::{FaultKind, Trigger};
use crate::target::Sort;

/// Reads a text, and what follows it after a colon.
///
/// # Errors
/// Its quotes do not end where a key may follow; or it has none, and a part of it looks like a key.
pub(super) fn read(text: &str) -> Result<(String, Option<&str>), String> {
    let Some(inside) = text.strip_prefix('"') else {
        return match key_in(text) {
            None => Ok((text.to_owned(), None)),
            Some(key) => Err(format!(
                "`:{key}=` looks like a key, but a text without quotes takes the whole rest; put the text in quotes, \
                 as in `text=\"no\":{key}=…`"
            )),
        };
    };
    let (mut read, mut chars) = (String::new(), inside.chars());
    loop {
        match chars.next() {
            None => return Err("the text has no closing quote; `\\\"` is a quote in it".to_owned()),
            Some('"') => break,
            Some('\\') if chars.as_str().starts_with(['"', '\\']) => read.extend(chars.next()),
            Some(c) => read.push(c),
        }
    }
    match chars.as_str() {
        "" => Ok((read, None)),
        rest => match rest.strip_prefix(':') {
            Some(rest) => Ok((read, Some(rest))),
            None => Err("the text goes on after its closing quote; `\\\"` is a quote in it".into()),
        },
    }
}

/// Writes a text, in quotes where it would be read as something else.
pub(super) fn written(text: &str) -> String {
    match text.starts_with('"') || key_in(text).is_some() {
        true => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
        false => text.to_owned(),
    }
}

/// The first part of a text that looks like a key.
fn key_in(text: &str) -> Option<&str> {
    let words = text.split(':').skip(1).filter_map(|part| Some(part.split_once('=')?.0));
    words.into_iter().find(|word| is_key(word))
}

fn is_key(word: &str) -> bool {
    let of = |kind: &FaultKind| {
        [Sort::Role, Sort::Tool].into_iter().any(|sort| kind.keys(sort).contains(&word))
    };
    Trigger::KEYS.contains(&word) || FaultKind::ALL.iter().any(of)
}
