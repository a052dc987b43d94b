//! The keys that this process has read, and texts without them.
//!
//! Servers repeat requests, models repeat their input, and tools print their environment. So every record, and every
//! text that leaves the program, passes here, whatever its source. The list belongs to the process: a key of one
//! session must not appear in another one either.
//!
//! A key is found in the text as it is displayed: neither invisible characters nor the usual encodings hide it
//! ([`super::spelling`]).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use reqwest::Url;
use serde::Serialize;
use serde_json::Value;

use super::client::names_a_key;
use super::decode::decode;
use super::spelling::{Spellings, from_base64};

/// The shortest text, in bytes, that is hidden everywhere. Local servers accept any word as a key, such as `none` or
/// `ollama`, and hiding such a word would damage ordinary texts.
const SHORTEST: usize = 8;
/// The shortest beginning of a key, in bytes, that is removed at a cut: shorter ones occur in ordinary words.
const PART: usize = 6;
/// The shortest text without a name that is taken for a key, and the shortest row of letters and digits in it.
const LONG: usize = 20;
const ROW: usize = 12;
/// The replacement of a key.
const HIDDEN: &str = "[key]";

/// The most keys of the small search. Each new key builds it again, which takes longer with more keys.
const FRESH: usize = 16;
/// The most values of one header that are hidden: some change with each request.
const NEWEST: usize = 32;
/// The most headers whose values are told apart.
const HEADERS: usize = 64;

static KNOWN: RwLock<KnownKeys> = RwLock::new(KnownKeys::none());
/// How often a key was new.
static LEARNT: AtomicU64 = AtomicU64::new(0);

struct KnownKeys {
    /// The keys that are hidden for ever.
    kept: BTreeSet<String>,
    /// The newest values of each header, each with its parts.
    passing: BTreeMap<String, VecDeque<Vec<String>>>,
    /// The keys of the small search.
    fresh: BTreeSet<String>,
    searches: Searches,
}

/// The search for most keys, and a small one for the newest. Each is `None` without keys.
#[derive(Clone)]
struct Searches([Option<Arc<Spellings>>; 2]);

impl Searches {
    fn all(&self) -> impl Iterator<Item = &Arc<Spellings>> {
        self.0.iter().flatten()
    }

    fn is_in(&self, text: &str) -> bool {
        self.all().any(|spellings| spellings.is_in(text))
    }

    fn begun(&self, text: &str, least: usize) -> usize {
        let begun = self.all().map(|spellings| spellings.begun(text, least)).max().unwrap_or(0);
        // The beginning of one key can be inside another, complete one, of either search.
        let whole = |begun| self.all().fold(begun, |begun, it| it.undivided(text, begun));
        whole(whole(begun))
    }
}

impl KnownKeys {
    const fn none() -> Self {
        Self {
            kept: BTreeSet::new(),
            passing: BTreeMap::new(),
            fresh: BTreeSet::new(),
            searches: Searches([None, None]),
        }
    }

    fn has(&self, key: &String) -> bool {
        let mut passing = self.passing.values().flatten().flatten();
        self.kept.contains(key) || passing.any(|part| part == key)
    }

    /// Hides these parts of a key, for ever or until a header has had many other values.
    fn add(&mut self, header: Option<&str>, parts: Vec<String>) {
        let new: Vec<String> = parts.iter().filter(|part| !self.has(part)).cloned().collect();
        match header {
            None => self.kept.extend(parts),
            Some(header) => {
                let is_other = self.passing.len() >= HEADERS && !self.passing.contains_key(header);
                let header = if is_other { String::new() } else { header.to_ascii_lowercase() };
                let newest = self.passing.entry(header).or_default();
                newest.retain(|known| *known != parts);
                newest.push_back(parts);
                newest.drain(..newest.len().saturating_sub(NEWEST));
            }
        }
        if new.is_empty() {
            return;
        }
        LEARNT.fetch_add(1, Ordering::Release);
        self.fresh.extend(new);
        // Building fails only with gigabytes of keys.
        let built = |keys: &BTreeSet<String>| Spellings::of(keys).ok().map(Arc::new);
        if self.fresh.len() <= FRESH {
            self.searches.0[1] = built(&self.fresh);
            return;
        }
        self.fresh.clear();
        let mut all = self.kept.clone();
        all.extend(self.passing.values().flatten().flatten().cloned());
        self.searches = Searches([built(&all), None]);
    }
}

/// Hides this key from now on, in every spelling in which it may be repeated.
pub(super) fn remember(key: &str) {
    add(None, key);
}

/// Hides a key from now on; of those with the same `header`, only the newest, since some change with each request.
pub(super) fn add(header: Option<&str>, key: &str) {
    let parts = parts(key.trim());
    let is_known = |known: &KnownKeys| parts.iter().all(|part| known.kept.contains(part));
    // The same keys are read for each request.
    if !parts.is_empty() && !is_known(&KNOWN.read().unwrap_or_else(PoisonError::into_inner)) {
        KNOWN.write().unwrap_or_else(PoisonError::into_inner).add(header, parts);
    }
}

/// The parts of a key that a text may repeat.
fn parts(key: &str) -> Vec<String> {
    // Only the last field of a signed request is a secret.
    if key.starts_with("AWS4-") {
        let signature = key.split_once("Signature=").map(|(_, rest)| rest.split(',').next());
        return signature.flatten().into_iter().map(|it| it.trim().to_owned()).collect();
    }
    // A server may repeat a header without its scheme, such as `Bearer`. The scheme itself is an ordinary word.
    let is_scheme = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let split = key.split_once(' ').filter(|(first, _)| is_scheme(first));
    let (scheme, rest) = split.unwrap_or(("", key));
    let decoded = scheme.eq_ignore_ascii_case("basic").then(|| from_base64(rest.trim())).flatten();
    let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    let login = decoded.as_deref().and_then(|text| text.split_once(':')).and_then(login);
    let parts = rest.split_whitespace().map(str::to_owned);
    // Forms write a space as a plus sign.
    let parts = parts.chain([key.to_owned(), key.replace(' ', "+")]);
    let parts = parts.chain(login.into_iter().flatten());
    let parts: BTreeSet<_> = parts.filter(|part| part.len() >= SHORTEST).collect();
    parts.into_iter().collect()
}

fn searches() -> Option<Searches> {
    let searches = KNOWN.read().unwrap_or_else(PoisonError::into_inner).searches.clone();
    let is_empty = searches.all().next().is_none();
    (!is_empty).then_some(searches)
}

/// Hides the parts of an address that may be a key: its password, values of its query that are long or whose names say
/// so, and long random parts of its path.
pub fn remember_address(url: &Url) {
    add_address(None, url);
}

pub(super) fn add_address(header: Option<&str>, url: &Url) {
    keys_of(url).chain(path_keys(url)).for_each(|key| add(header, &key));
}

/// The same for the address of a request, which may have another key each time. Its path names things of the endpoint,
/// such as answers, by random ids.
pub fn remember_request(url: &Url) {
    keys_of(url).for_each(|key| add(Some(""), &key));
}

/// Whether a request to an address, or to one below it, has a key by the address itself.
pub fn adds_key(url: &Url) -> bool {
    let has_login = !url.username().is_empty() || url.password().is_some();
    has_login || keys_of(url).chain(path_keys(url)).next().is_some()
}

fn keys_of(url: &Url) -> impl Iterator<Item = String> {
    let (name, password) = (url.username(), url.password().unwrap_or_default());
    let values = url.query_pairs().filter(|(name, _)| name != "api-version");
    // The name of a model is long, too, but no part of it is.
    let is_key = |value: &str| is_random(value) && has_row(value);
    let keys = values.filter(move |(name, value)| names_a_key(name) || is_key(value));
    secrets_of_login(name, password).chain(keys.map(|(_, key)| key.into_owned()))
}

/// The parts of a path that may be keys, as in `/mcp/s/TOKEN/mcp`. A UUID is one, too: some servers know their users by
/// nothing else. `/botTOKEN/` has a number, a colon and the key, which a text may repeat alone.
fn path_keys(url: &Url) -> impl Iterator<Item = String> {
    let parts = url.path_segments().into_iter().flatten().map(unescaped);
    let keys = parts.filter(|part| looks_like_a_key(part));
    keys.flat_map(|key| {
        let last = key.rsplit_once(':').map(|(_, last)| last.to_owned());
        last.filter(|last| looks_like_a_key(last)).into_iter().chain([key])
    })
}

/// Whether a text without a name is taken for a key: it is long, with letters and digits in a row. Names of models with
/// versions and dates, such as `gpt-4.1-mini-2025-04-14`, have short rows.
pub fn looks_like_a_key(text: &str) -> bool {
    text.len() >= LONG && !text.contains(char::is_whitespace) && has_row(text)
}

/// Whether a text has a long part of letters and digits.
fn has_row(text: &str) -> bool {
    let is_row = |row: &str| {
        row.len() >= ROW
            && row.contains(|c: char| c.is_ascii_digit())
            && row.contains(|c: char| c.is_ascii_alphabetic())
    };
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(is_row)
}

/// The secrets of a name and a password as an address has them.
pub(super) fn secrets_of_login(name: &str, password: &str) -> impl Iterator<Item = String> {
    login((&unescaped(name), &unescaped(password))).into_iter().flatten()
}

/// The secrets of a user's name and password. Without a password, the name may be a key.
fn login((name, password): (&str, &str)) -> Option<[String; 2]> {
    let key = if password.is_empty() { name } else { password };
    let is_key = !password.is_empty() || is_random(name);
    is_key.then(|| [key.to_owned(), format!("{name}:{password}")])
}

/// Whether a text is long, and has digits and letters, as a key has.
pub fn is_random(text: &str) -> bool {
    text.len() >= 2 * SHORTEST
        && text.contains(|c: char| c.is_ascii_digit())
        && text.contains(|c: char| c.is_ascii_alphabetic())
}

/// A part of an address without percent-encoding.
fn unescaped(part: &str) -> String {
    let mut bytes = Vec::new();
    decode(part.as_bytes(), &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A number that grows with each new key: a text that was without keys before may have that one.
pub fn learnt() -> u64 {
    LEARNT.load(Ordering::Acquire)
}

/// The text without any key.
pub fn without_known(text: &str) -> Cow<'_, str> {
    let Some(searches) = searches() else { return Cow::Borrowed(text) };
    let found = searches.all().filter(|spellings| spellings.is_in(text));
    let mut places: Vec<_> = found.flat_map(|spellings| spellings.places(text)).collect();
    if places.is_empty() {
        return Cow::Borrowed(text);
    }
    places.sort_by_key(|place| (place.start, place.end));
    let mut clean = String::with_capacity(text.len());
    let mut at = 0;
    for place in places {
        // A place of the other search may overlap.
        if place.start >= at {
            clean.push_str(&text[at..place.start]);
            clean.push_str(HIDDEN);
        }
        at = at.max(place.end);
    }
    clean.push_str(&text[at..]);
    Cow::Owned(clean)
}

/// The text without known keys, and without words that look like keys.
pub fn without_keys(text: &str) -> String {
    let mut text = without_known(text).into_owned();
    let looks = |word: &&str| word.starts_with("sk-") && word.len() > "sk-".len() + 8;
    let ends = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*' | '.'));
    let words: Vec<String> = text.split(ends).filter(looks).map(str::to_owned).collect();
    for word in words {
        text = text.replace(word.trim_end_matches('.'), HIDDEN);
    }
    text
}

/// The value without any key in its texts, names and numbers; `None` if it has none. `read` restores it from JSON.
pub fn redacted<T: Serialize>(value: &T, read: impl Fn(&str) -> Option<T>) -> Option<T> {
    let searches = searches()?;
    let json = serde_json::to_string(value).ok()?;
    if searches.is_in(&json) { clean_copy(&json, read) } else { None }
}

/// The same for a value that will be written as JSON: returns also its JSON, if that was made for the search.
pub fn searched<T: Serialize>(value: T, read: impl Fn(&str) -> Option<T>) -> (T, Option<String>) {
    let Some(searches) = searches() else { return (value, None) };
    let Ok(json) = serde_json::to_string(&value) else { return (value, None) };
    if !searches.is_in(&json) {
        return (value, Some(json));
    }
    (clean_copy(&json, read).unwrap_or(value), None)
}

fn clean_copy<T>(json: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
    let json: Value = serde_json::from_str(json).ok()?;
    // A name or a number of the value's own type, such as a time, can equal a weak key. Then only texts are changed.
    [true, false].into_iter().find_map(|all| {
        let mut json = json.clone();
        clean(&mut json, all);
        read(&json.to_string())
    })
}

fn clean(value: &mut Value, all: bool) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(clean) = without_known(text) {
                *text = clean;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| clean(item, all)),
        Value::Object(fields) => {
            for (name, mut field) in std::mem::take(fields) {
                clean(&mut field, all);
                let name = if all { without_known(&name).into_owned() } else { name };
                fields.insert(name, field);
            }
        }
        Value::Number(number) if all => {
            if let Cow::Owned(clean) = without_known(&number.to_string()) {
                *value = Value::String(clean);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The number of bytes at the end of a growing text that may be the beginning of a key.
pub fn begun(text: &str) -> usize {
    searches().map_or(0, |searches| searches.begun(text, 1))
}

/// The number of bytes at the end of a cut text that are a large part of a key. They would not be found later.
pub fn left_of_key(text: &str) -> usize {
    searches().map_or(0, |searches| searches.begun(text, PART))
}

#[cfg(test)]
mod tests;
