//! The text form of a fault, on the command line and on the screen.
//!
//! A word such as `role` before the first colon always names the kind of target, so a tool called
//! `role` is written `tool:role`. In a name, `\` makes the next character part of the name.

use std::{fmt, str::FromStr};

use super::{FaultKind, FaultSpec, Sort, Target, Trigger, inject};
use crate::domain::words;

/// The text form of a fault, for errors and help.
pub const FAULT_SYNTAX: &str = "TARGET:KIND[:KEY=VALUE]…, TARGET a tool's name, class:NAME, role:NAME, \
     model:NAME or embedding (`\\:` is a colon in a name); KIND one of error, timeout, latency, empty, \
     garbage, answer; for roles and models also rate-limit, cut-stream, broken-arguments; KEY one of p (0 to 1), \
     nth, first, from-task, to-task, ms (latency), retry-after (rate-limit), status (error, not of tools), text (error, answer; \
     last)";

/// Statuses that an error may have.
const STATUSES: std::ops::RangeInclusive<u16> = 400..=599;

/// A target as it is written, whether or not it exists.
pub fn target_text(sort: Sort, name: &str) -> String {
    let escaped = name.replace('\\', "\\\\").replace(':', "\\:");
    match sort {
        Sort::Embedding => sort.name().to_owned(),
        Sort::Tool if Sort::by_name(name).is_none() => escaped,
        Sort::Tool | Sort::Class | Sort::Role | Sort::Model => {
            format!("{}:{escaped}", sort.name())
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&target_text(self.sort(), self.name()))
    }
}

/// Displayed in its text form: `search_web:error:from-task=50`.
impl fmt::Display for FaultSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.target, self.kind.name())?;
        self.settings().iter().try_for_each(|(key, value)| write!(f, ":{key}={value}"))
    }
}

impl FromStr for FaultSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::read(text).map_err(|what| format!("fault `{text}`: {what}; expected {FAULT_SYNTAX}"))
    }
}

/// The longest latency in milliseconds. More is a timeout, or a mistake.
const LONGEST_LATENCY: u64 = 3_600_000;

impl FaultKind {
    /// Whether a fault of this kind on such a target can have this setting of its own. Triggers fit all.
    pub fn takes(&self, key: &str, sort: Sort) -> bool {
        let is_tool = matches!(sort, Sort::Tool | Sort::Class);
        match key {
            "status" => matches!(self, FaultKind::Error { .. }) && !is_tool,
            "text" => matches!(self, FaultKind::Error { .. } | FaultKind::Answer { .. }),
            "ms" => matches!(self, FaultKind::Latency { .. }),
            "retry-after" => matches!(self, FaultKind::RateLimit { .. }),
            _ => true,
        }
    }
}

impl FaultSpec {
    /// What is set besides target and kind: the keys and values of the text form, in its order.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = Vec::new();
        let mut add = |key, value: Option<String>| settings.extend(value.map(|value| (key, value)));
        let mut last = None;
        match &self.kind {
            FaultKind::Latency { ms } => add("ms", Some(ms.to_string())),
            FaultKind::RateLimit { retry_after } => {
                add("retry-after", Some(retry_after.to_string()));
            }
            FaultKind::Error { status, text } => {
                add("status", status.map(|status| status.to_string()));
                last = text.clone();
            }
            FaultKind::Answer { text } => last = Some(text.clone()),
            FaultKind::Timeout
            | FaultKind::Empty
            | FaultKind::Garbage
            | FaultKind::CutStream
            | FaultKind::BrokenArguments => {}
        }
        let Trigger { probability, nth, first, from_task, to_task } = self.trigger;
        add("p", probability.map(|p| p.to_string()));
        add("nth", nth.map(|nth| nth.to_string()));
        add("first", first.map(|first| first.to_string()));
        add("from-task", from_task.map(|task| task.to_string()));
        add("to-task", to_task.map(|task| task.to_string()));
        // A text takes the whole rest.
        add("text", last);
        settings
    }

    /// Like `parse`, but an error contains only the reason: for forms, whose user writes no syntax.
    pub fn read(text: &str) -> Result<Self, String> {
        let (target, rest) = target(text)?;
        let (kind, mut rest) = split(rest);
        let mut kind = FaultKind::by_name(kind).ok_or_else(|| unknown_kind(kind))?;
        kind.check(&target)?;
        let is_tool = matches!(target.sort(), Sort::Tool | Sort::Class);
        let mut trigger = Trigger::default();
        while let Some(left) = rest {
            let (part, after) = split(left);
            rest = after;
            let (key, value) =
                part.split_once('=').ok_or_else(|| format!("`{part}` has no `=`"))?;
            match (key, &mut kind) {
                ("p", _) => {
                    let p = number::<f64>(key, value)?;
                    if !(0.0..=1.0).contains(&p) {
                        return Err(format!("p is {p}, not from 0 to 1"));
                    }
                    trigger.probability = Some(p);
                }
                ("nth", _) => trigger.nth = Some(positive(key, value)?),
                ("first", _) => trigger.first = Some(positive(key, value)?),
                ("from-task", _) => trigger.from_task = Some(positive(key, value)?),
                ("to-task", _) => trigger.to_task = Some(positive(key, value)?),
                ("ms", FaultKind::Latency { ms }) => {
                    *ms = number(key, value)?;
                    if *ms > LONGEST_LATENCY {
                        let most = format!("at most an hour, {LONGEST_LATENCY}");
                        return Err(format!("ms is {ms}, but takes {most}"));
                    }
                }
                ("retry-after", FaultKind::RateLimit { retry_after }) => {
                    *retry_after = number(key, value)?;
                }
                ("status", FaultKind::Error { .. }) if is_tool => {
                    return Err(
                        "error of a tool does not take `status`: tools have no status".to_owned()
                    );
                }
                ("status", FaultKind::Error { status, .. }) => *status = Some(error_status(value)?),
                // A text may contain colons, so it takes the whole rest.
                ("text", FaultKind::Error { text, .. }) => {
                    *text = left.split_once('=').map(|(_, all)| all.to_owned());
                    rest = None;
                }
                ("text", FaultKind::Answer { text }) => {
                    *text = left.split_once('=').map_or(String::new(), |(_, all)| all.to_owned());
                    rest = None;
                }
                (other, kind) => {
                    return Err(format!("{} does not take `{other}`", kind.name()));
                }
            }
        }
        if matches!(&kind, FaultKind::Answer { text } if text.is_empty()) {
            return Err("answer takes `text`, what is answered; `empty` answers nothing".to_owned());
        }
        Ok(FaultSpec { target, kind, trigger })
    }
}

/// Why a kind is refused, with the nearest one.
fn unknown_kind(kind: &str) -> String {
    let near = words::nearest(kind, FaultKind::ALL.iter().map(FaultKind::name));
    let hint = near.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default();
    format!("there is no kind `{kind}`{hint}")
}

/// The target, and the rest.
fn target(text: &str) -> Result<(Target, &str), String> {
    let (first, rest) = split(text);
    let sort = Sort::by_name(first);
    let (name, rest) = match (sort, rest) {
        (None, _) => name(text),
        (Some(Sort::Embedding), rest) => (String::new(), rest),
        (Some(_), rest) => name(rest.unwrap_or_default()),
    };
    let kind = rest.map(|rest| split(rest).0);
    // `role:error` may be meant for a tool called `role`.
    if sort.is_some() && kind.and_then(FaultKind::by_name).is_none() && is_kind(&name) {
        return Err(format!(
            "no kind named for the {first} `{name}`; a tool called `{first}` is written `tool:{first}`"
        ));
    }
    let sort = sort.unwrap_or(Sort::Tool);
    if name.is_empty() && sort != Sort::Embedding {
        return Err(format!("no {} named", sort.name()));
    }
    let rest = rest.ok_or("no kind named")?;
    Ok((Target::named(sort, &name)?, rest))
}

fn is_kind(name: &str) -> bool {
    FaultKind::by_name(name).is_some()
}

/// A name up to its colon, and the rest.
fn name(text: &str) -> (String, Option<&str>) {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            ':' => return (name.trim().to_owned(), Some(&text[at + 1..])),
            '\\' => name.extend(chars.next().map(|(_, next)| next)),
            c => name.push(c),
        }
    }
    (name.trim().to_owned(), None)
}

/// The text before the first colon, and the text after it.
fn split(text: &str) -> (&str, Option<&str>) {
    text.split_once(':').map_or((text, None), |(before, behind)| (before, Some(behind)))
}

fn number<T: FromStr>(key: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{key} is `{value}`, not a number it takes"))
}

fn positive(key: &str, value: &str) -> Result<u32, String> {
    match value.parse().map_err(|_| format!("{key} is `{value}`, not a whole number from 1"))? {
        0 => Err(format!("{key} counts from 1")),
        n => Ok(n),
    }
}

fn error_status(value: &str) -> Result<u16, String> {
    let status = value.parse().ok().filter(|status| STATUSES.contains(status));
    status.ok_or_else(|| {
        let (least, most, usual) = (STATUSES.start(), STATUSES.end(), inject::STATUS);
        format!("status is `{value}`, not an HTTP error from {least} to {most}, such as {usual}")
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::chat::Role;

    #[test]
    fn reads_what_it_writes() {
        for text in [
            "search_web:error",
            "search_web:error:from-task=50",
            "calc:latency:ms=800:p=0.3",
            "x.y:timeout:nth=3",
            "a:garbage",
            "a:empty:p=0.5:from-task=2",
            "a:error:p=0.5:nth=2:text=no: none",
            "a:answer:first=3:text=42: the answer",
            "tool:role:error",
            "class:Information Retrieval / Airline:empty",
            "role:actor:broken-arguments:nth=2",
            "role:planner:error:status=529:p=0.5:text=no: none",
            r"model:qwen2.5\:7b:rate-limit:retry-after=20",
            "model:gpt:cut-stream",
            "embedding:timeout:from-task=3",
        ] {
            assert_eq!(text.parse::<FaultSpec>().unwrap().to_string(), text);
        }
        let spec: FaultSpec = "a:error:p=1:text=no: none".parse().unwrap();
        assert_eq!(spec.kind, FaultKind::Error { status: None, text: Some("no: none".into()) });
        let spec: FaultSpec = r"model:qwen2.5\:7b:timeout".parse().unwrap();
        assert_eq!(spec.target, Target::Model("qwen2.5:7b".into()));
    }

    #[test]
    fn a_word_for_a_kind_of_target_is_never_a_bare_tool() {
        let target = |text: &str| text.parse::<FaultSpec>().map(|spec| spec.target);
        for sort in Sort::all() {
            let tool = Target::Tool(sort.name().into());
            assert_eq!(target(&format!("tool:{}:error", sort.name())), Ok(tool.clone()));
            assert_eq!(tool.to_string(), format!("tool:{}", sort.name()));
        }
        assert_eq!(target("embedding:error"), Ok(Target::Embedding));
        assert_eq!(target("tool:a:error"), target("a:error"));
        assert_eq!(target("tool:error:error"), Ok(Target::Tool("error".into())));
        assert_eq!(target("error:error"), Ok(Target::Tool("error".into())));
        assert_eq!(target("role:solver:error"), Ok(Target::Role(Role::Solver)));
        assert_eq!(target("model:latency:error"), Ok(Target::Model("latency".into())));
        for text in ["role:error", "class:latency:ms=5"] {
            let word = text.split(':').next().unwrap();
            let error = target(text).unwrap_err();
            let hint = format!("a tool called `{word}` is written `tool:{word}`");
            assert!(error.contains(&hint), "{error}");
        }
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, phrase) in [
            ("", "no tool named"),
            (":error", "no tool named"),
            ("role::error", "no role named"),
            ("class", "no class named"),
            ("a", "no kind named"),
            ("role:actor", "no kind named"),
            ("embedding", "no kind named"),
            ("a:melt", "no kind `melt`"),
            ("model:qwen2.5:7b:error", "no kind `7b`"),
            ("role:actr:error", "there is no role actr; did you mean `actor`?"),
            ("a:error:p=2", "p is 2"),
            ("a:error:nth=0", "counts from 1"),
            ("a:error:ms=4", "error does not take `ms`"),
            ("a:latency:ms=3600001", "ms is 3600001, but takes at most an hour, 3600000"),
            ("a:latency:ms=18446744073709551615", "at most an hour"),
            ("a:error:p", "has no `=`"),
            ("a:error:status=500", "tools have no status"),
            ("embedding:error:status=200", "not an HTTP error from 400 to 599"),
            ("role:actor:timeout:retry-after=3", "timeout does not take `retry-after`"),
            ("role:actor:rate-limit:retry-after=-1", "not a number it takes"),
            (
                "a:cut-stream",
                "cut-stream does not fit a target of the kind tool; it fits role, model",
            ),
            ("class:A:rate-limit", "it fits role, model, embedding"),
            ("embedding:empty", "it fits tool, class, role, model"),
        ] {
            let error = text.parse::<FaultSpec>().unwrap_err();
            assert!(error.contains(phrase), "{text}: {error}");
        }
    }

    fn targets() -> impl Strategy<Value = Target> {
        let name = r"[a-c:\\/ é]{0,6}|tool|class|role|model|embedding|error";
        let name = name.prop_map(|name: String| name.trim().to_owned());
        let name = name.prop_filter("a name", |name| !name.is_empty());
        let role = prop::sample::select(Role::all().collect::<Vec<_>>());
        prop_oneof![
            name.clone().prop_map(|name| Target::Tool(name.into())),
            name.clone().prop_map(Target::Class),
            role.prop_map(Target::Role),
            name.prop_map(|name| Target::Model(name.into())),
            Just(Target::Embedding),
        ]
    }

    fn kinds() -> impl Strategy<Value = FaultKind> {
        let error = (prop::option::of(STATUSES), prop::option::of(".{0,8}"));
        prop_oneof![
            error.prop_map(|(status, text)| FaultKind::Error { status, text }),
            (0..=LONGEST_LATENCY).prop_map(|ms| FaultKind::Latency { ms }),
            any::<u32>().prop_map(|retry_after| FaultKind::RateLimit { retry_after }),
            ".{1,8}".prop_map(|text| FaultKind::Answer { text }),
            prop::sample::select(FaultKind::ALL)
                .prop_filter("it needs a text", |kind| !matches!(kind, FaultKind::Answer { .. })),
        ]
    }

    fn triggers() -> impl Strategy<Value = Trigger> {
        let count = || prop::option::of(1..=u32::MAX);
        let all = (prop::option::of(0.0..=1.0), count(), count(), count(), count());
        all.prop_map(|(probability, nth, first, from_task, to_task)| Trigger {
            probability,
            nth,
            first,
            from_task,
            to_task,
        })
    }

    proptest! {
        #[test]
        fn every_fault_comes_back_as_it_was_written(
            target in targets(),
            mut kind in kinds(),
            trigger in triggers(),
        ) {
            let is_tool = matches!(target.sort(), Sort::Tool | Sort::Class);
            if let (true, FaultKind::Error { status, .. }) = (is_tool, &mut kind) {
                *status = None;
            }
            let spec = FaultSpec { target, kind, trigger };
            let read = FaultSpec::read(&spec.to_string());
            if spec.kind.fits(spec.target.sort()) {
                prop_assert_eq!(read, Ok(spec));
            } else {
                prop_assert!(read.unwrap_err().contains("does not fit"));
            }
        }
    }
}
