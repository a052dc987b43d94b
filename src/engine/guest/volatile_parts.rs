//! The parts of an agent's requests that change from run to run by themselves: ids of sessions, dates, cache keys.

use std::borrow::Cow;
use std::collections::BTreeSet;

use regex::Regex;

/// The rules that name such parts.
#[derive(Clone, Debug, Default)]
pub struct Varies {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    /// The rule as a person wrote it.
    text: String,
    kind: VariationKind,
}

#[derive(Clone, Debug)]
enum VariationKind {
    /// A field of the body, such as `/metadata/user_id`; `*` is any name or index.
    Field(Vec<String>),
    /// Any part of a message's text that matches.
    Text(Regex),
}

/// The rules that made a difference, by their places.
pub type Used = BTreeSet<usize>;

impl Varies {
    /// Reads rules: one that begins with `/` names a field of the body, and any other is a regular expression for the
    /// texts of messages.
    ///
    /// # Errors
    /// A rule is not a valid regular expression.
    pub fn new(rules: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let rule = |text: String| {
            let kind = match text.strip_prefix('/') {
                Some(path) => VariationKind::Field(path.split('/').map(str::to_owned).collect()),
                None => VariationKind::Text(Regex::new(&text).map_err(|error| error.to_string())?),
            };
            Ok::<_, String>(Rule { text, kind })
        };
        Ok(Self { rules: rules.into_iter().map(rule).collect::<Result<_, _>>()? })
    }

    /// The rule that leaves a field out of a comparison.
    pub(super) fn of_field(&self, path: &[String]) -> Option<usize> {
        let is_it = |rule: &Rule| match &rule.kind {
            VariationKind::Field(named) => {
                let fits = |(name, own): (&String, &String)| name == "*" || name == own;
                named.len() == path.len() && named.iter().zip(path).all(fits)
            }
            VariationKind::Text(_) => false,
        };
        self.rules.iter().position(is_it)
    }

    /// A text without the parts that vary, and the rules that matched them.
    pub(super) fn without<'t>(&self, text: &'t str) -> (Cow<'t, str>, Used) {
        let (mut text, mut used) = (Cow::Borrowed(text), Used::new());
        for (at, rule) in self.rules.iter().enumerate() {
            let VariationKind::Text(varying) = &rule.kind else { continue };
            if let Cow::Owned(without) = varying.replace_all(&text, "…") {
                text = Cow::Owned(without);
                used.insert(at);
            }
        }
        (text, used)
    }

    /// A rule as it was written.
    pub(super) fn rule(&self, at: usize) -> &str {
        self.rules.get(at).map_or("", |rule| &rule.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_name_fields_and_parts_of_texts() {
        let rules = ["/metadata", "/tools/*/id", r"date: \d+-\d+"];
        let varies = Varies::new(rules.map(str::to_owned)).unwrap();
        let field = |path: &str| {
            let path: Vec<_> = path.split('/').map(str::to_owned).collect();
            varies.of_field(&path)
        };
        assert_eq!(field("metadata"), Some(0));
        assert_eq!(field("metadata/user"), None, "its parent is left out already");
        assert_eq!(field("tools/3/id"), Some(1));
        assert_eq!(field("tools/3/name"), None);
        let (text, used) = varies.without("date: 2026-11, and date: 1-2.");
        assert_eq!((&*text, used), ("…, and ….", [2].into()));
        assert_eq!(varies.without("no date"), ("no date".into(), Used::new()));
        assert_eq!(varies.rule(2), r"date: \d+-\d+");
        let why = Varies::new(["(".to_owned()]).unwrap_err();
        assert!(why.contains("unclosed group"), "{why}");
    }
}
