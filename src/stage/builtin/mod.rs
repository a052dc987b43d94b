//! Tools that are functions of this program: the sample tools use them. They are pure: arguments
//! and a seed decide everything, so that runs repeat.
//!
//! Besides useful ones there are those for ToolNet's experiments: one that never finds anything, one that makes numbers
//! up, one that is slow, and one that sometimes fails.

mod arguments;
mod calendar;
mod expression;
mod films;
mod knowledge;
mod numbers;
mod text;
mod travel;
mod units;

use std::{sync::Arc, time::Duration};

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::Value;

use self::films::{VIEWS, View};
use self::knowledge::SearchOptions;
use crate::domain::{Chance, words};
use crate::files::toml_file::{TomlField, TomlFields};
use crate::tool::builtin::{Builtin, Function};
use crate::tool::{Invocation, ToolError, ToolErrorKind};

/// A built-in function: its name and its action.
#[derive(Debug)]
struct Named {
    name: &'static str,
    does: BuiltinAction,
}

#[derive(Debug)]
enum BuiltinAction {
    Work(BuiltinFunction),
    Slow { delay: Duration, of: Builtin },
    Flaky { probability: f64, error: String, of: Builtin },
}

#[derive(Debug)]
enum BuiltinFunction {
    KnowledgeSearch(SearchOptions),
    KnowledgeLookup,
    Timetable,
    Climate,
    Films(View),
    Translate,
    Calculate,
    ConvertUnit,
    ConvertCurrency,
    ListStatistic,
    DaysBetween,
    DateShift,
    TextMeasure,
    TextTransform,
    NothingFound,
    RandomNumber { least: i64, most: i64 },
}

/// A function that a manifest may name.
struct BuiltinEntry {
    name: &'static str,
    /// Arguments that the function requires.
    needs: &'static [&'static str],
    /// Reads its options.
    read: fn(&mut TomlFields<'_>) -> Option<BuiltinAction>,
}

#[rustfmt::skip]
static REGISTRY: [BuiltinEntry; 18] = [
    BuiltinEntry { name: "knowledge_search", needs: &["query"], read: read_search },
    BuiltinEntry { name: "knowledge_lookup", needs: &["title"], read: |_| work(BuiltinFunction::KnowledgeLookup) },
    BuiltinEntry { name: "timetable", needs: &["from", "to"], read: |_| work(BuiltinFunction::Timetable) },
    BuiltinEntry { name: "climate", needs: &["city"], read: |_| work(BuiltinFunction::Climate) },
    BuiltinEntry { name: "translate", needs: &["word", "language"], read: |_| work(BuiltinFunction::Translate) },
    BuiltinEntry { name: "calculator", needs: &["expression"], read: |_| work(BuiltinFunction::Calculate) },
    BuiltinEntry { name: "unit_convert", needs: &["value", "from", "to"], read: |_| work(BuiltinFunction::ConvertUnit) },
    BuiltinEntry { name: "currency_convert", needs: &["amount", "from", "to"], read: |_| work(BuiltinFunction::ConvertCurrency) },
    BuiltinEntry { name: "list_statistic", needs: &["numbers", "statistic"], read: |_| work(BuiltinFunction::ListStatistic) },
    BuiltinEntry { name: "days_between", needs: &["from", "to"], read: |_| work(BuiltinFunction::DaysBetween) },
    BuiltinEntry { name: "date_shift", needs: &["date", "days"], read: |_| work(BuiltinFunction::DateShift) },
    BuiltinEntry { name: "text_measure", needs: &["text", "what"], read: |_| work(BuiltinFunction::TextMeasure) },
    BuiltinEntry { name: "text_transform", needs: &["text", "operation"], read: |_| work(BuiltinFunction::TextTransform) },
    BuiltinEntry { name: "films", needs: &[], read: read_films },
    BuiltinEntry { name: "nothing_found", needs: &[], read: |_| work(BuiltinFunction::NothingFound) },
    BuiltinEntry { name: "random_number", needs: &[], read: read_random },
    BuiltinEntry { name: "slow", needs: &[], read: read_slow },
    BuiltinEntry { name: "flaky", needs: &[], read: read_flaky },
];

fn work(work: BuiltinFunction) -> Option<BuiltinAction> {
    Some(BuiltinAction::Work(work))
}

fn read_search(options: &mut TomlFields<'_>) -> Option<BuiltinAction> {
    let kinds = options.get("kinds").map_or(Some(Vec::new()), |field| field.texts());
    let hits = options.get("hits").map_or(Some(3), |field| field.whole(1, 20));
    work(BuiltinFunction::KnowledgeSearch(SearchOptions { kinds: kinds?, hits: hits? as usize }))
}

fn read_films(options: &mut TomlFields<'_>) -> Option<BuiltinAction> {
    let view = options.need("view", "view = \"credits\", a view of the film archive");
    work(BuiltinFunction::Films(view?.one_of(&VIEWS)?))
}

fn read_random(options: &mut TomlFields<'_>) -> Option<BuiltinAction> {
    const FAR: i64 = 1_000_000_000;
    let least = options.get("least").map_or(Some(0), |field| field.whole(-FAR, FAR));
    let most = options.get("most").map_or(Some(1000), |field| field.whole(-FAR, FAR));
    let (least, most) = (least?, most?);
    if least > most {
        options.refuse(format!("expected `least` to be at most `most`, got {least} and {most}"));
        return None;
    }
    work(BuiltinFunction::RandomNumber { least, most })
}

fn read_slow(options: &mut TomlFields<'_>) -> Option<BuiltinAction> {
    let delay = options
        .need("delay", "delay = \"2s\"")
        .and_then(|field| field.duration(Duration::ZERO, Duration::from_secs(3600)));
    let of = read_wrapped(options);
    Some(BuiltinAction::Slow { delay: delay?, of: of? })
}

fn read_flaky(options: &mut TomlFields<'_>) -> Option<BuiltinAction> {
    let probability =
        options.need("probability", "probability = 0.3").and_then(|field| field.number(0.0, 1.0));
    let error = options.get("error").map_or(Some("the service is unavailable"), |f| f.text());
    let of = read_wrapped(options);
    Some(BuiltinAction::Flaky { probability: probability?, error: error?.into(), of: of? })
}

/// The function inside a wrapper.
fn read_wrapped(options: &mut TomlFields<'_>) -> Option<Builtin> {
    let name = options.need("builtin", "builtin = \"calculator\", the function to wrap");
    let inner = options.get("options");
    read(&name?, inner.as_ref())
}

/// Reads the name of a function and its table of options; notes any faults.
pub fn read(name: &TomlField<'_>, options: Option<&TomlField<'_>>) -> Option<Builtin> {
    let text = name.text()?;
    let Some(entry) = REGISTRY.iter().find(|entry| entry.name == text) else {
        let known = REGISTRY.iter().map(|entry| entry.name);
        let expected = words::expected(text, known);
        name.refuse(format!("unknown built-in tool {text:?}; {expected}"));
        return None;
    };
    let mut fields = match options {
        Some(field) => field.table()?,
        None => name.without_fields(),
    };
    let does = (entry.read)(&mut fields);
    fields.finish();
    let does = does?;
    let needs = match &does {
        BuiltinAction::Slow { of, .. } | BuiltinAction::Flaky { of, .. } => of.needs,
        BuiltinAction::Work(BuiltinFunction::Films(view)) => view.needs(),
        BuiltinAction::Work(_) => entry.needs,
    };
    let options = options.and_then(TomlField::json);
    let function = Arc::new(Named { name: entry.name, does });
    Some(Builtin { name: entry.name, needs, options, function })
}

impl Function for Named {
    fn answer<'a>(
        &'a self,
        invocation: &'a Invocation,
    ) -> LocalBoxFuture<'a, Result<String, ToolError>> {
        let answer = async {
            let chance = Chance::new(invocation.seed).with(self.name.as_bytes());
            match &self.does {
                BuiltinAction::Work(work) => work.answer(&invocation.arguments, chance),
                BuiltinAction::Slow { delay, of } => {
                    tokio::time::sleep(*delay).await;
                    of.function.answer(invocation).await
                }
                BuiltinAction::Flaky { probability, error, of } => {
                    if chance.unit() < *probability {
                        return Err(ToolError::new(ToolErrorKind::Failed, error));
                    }
                    of.function.answer(invocation).await
                }
            }
        };
        answer.boxed_local()
    }
}

impl BuiltinFunction {
    fn answer(&self, arguments: &Value, chance: Chance) -> Result<String, ToolError> {
        match self {
            BuiltinFunction::KnowledgeSearch(search) => search.answer(arguments),
            BuiltinFunction::KnowledgeLookup => knowledge::look_up(arguments),
            BuiltinFunction::Timetable => travel::timetable(arguments),
            BuiltinFunction::Climate => knowledge::climate(arguments),
            BuiltinFunction::Films(view) => view.answer(arguments),
            BuiltinFunction::Translate => knowledge::translate(arguments),
            BuiltinFunction::Calculate => expression::calculate(arguments),
            BuiltinFunction::ConvertUnit => units::convert(arguments),
            BuiltinFunction::ConvertCurrency => numbers::convert_currency(arguments),
            BuiltinFunction::ListStatistic => numbers::list_statistic(arguments),
            BuiltinFunction::DaysBetween => calendar::days_between(arguments),
            BuiltinFunction::DateShift => calendar::shift(arguments),
            BuiltinFunction::TextMeasure => text::measure(arguments),
            BuiltinFunction::TextTransform => text::transform(arguments),
            BuiltinFunction::NothingFound => Ok(knowledge::NOTHING.into()),
            BuiltinFunction::RandomNumber { least, most } => {
                let span = most - least + 1;
                Ok((least + (chance.unit() * span as f64) as i64).to_string())
            }
        }
    }
}
