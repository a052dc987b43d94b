//! Tools that are functions of this program: the sample tools use them. They are pure: arguments
//! and a seed decide everything, so that runs repeat.
//!
//! Besides useful ones there are those for ToolNet's experiments: one that never finds anything,
//! one that makes numbers up, one that is slow, one that fails now and then.

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
use self::knowledge::Search;
use crate::domain::{Chance, words};
use crate::files::toml_file::{Field, Fields};
use crate::tool::builtin::{Builtin, Function};
use crate::tool::{Invocation, ToolError, ToolErrorKind};

/// What a function of this name does.
#[derive(Debug)]
struct Named {
    name: &'static str,
    does: Does,
}

#[derive(Debug)]
enum Does {
    Work(Work),
    Slow { delay: Duration, of: Builtin },
    Flaky { probability: f64, error: String, of: Builtin },
}

#[derive(Debug)]
enum Work {
    KnowledgeSearch(Search),
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
struct Entry {
    name: &'static str,
    /// Arguments that the function requires.
    needs: &'static [&'static str],
    /// Reads its options.
    read: fn(&mut Fields<'_>) -> Option<Does>,
}

#[rustfmt::skip]
static REGISTRY: [Entry; 18] = [
    Entry { name: "knowledge_search", needs: &["query"], read: read_search },
    Entry { name: "knowledge_lookup", needs: &["title"], read: |_| work(Work::KnowledgeLookup) },
    Entry { name: "timetable", needs: &["from", "to"], read: |_| work(Work::Timetable) },
    Entry { name: "climate", needs: &["city"], read: |_| work(Work::Climate) },
    Entry { name: "translate", needs: &["word", "language"], read: |_| work(Work::Translate) },
    Entry { name: "calculator", needs: &["expression"], read: |_| work(Work::Calculate) },
    Entry { name: "unit_convert", needs: &["value", "from", "to"], read: |_| work(Work::ConvertUnit) },
    Entry { name: "currency_convert", needs: &["amount", "from", "to"], read: |_| work(Work::ConvertCurrency) },
    Entry { name: "list_statistic", needs: &["numbers", "statistic"], read: |_| work(Work::ListStatistic) },
    Entry { name: "days_between", needs: &["from", "to"], read: |_| work(Work::DaysBetween) },
    Entry { name: "date_shift", needs: &["date", "days"], read: |_| work(Work::DateShift) },
    Entry { name: "text_measure", needs: &["text", "what"], read: |_| work(Work::TextMeasure) },
    Entry { name: "text_transform", needs: &["text", "operation"], read: |_| work(Work::TextTransform) },
    Entry { name: "films", needs: &[], read: read_films },
    Entry { name: "nothing_found", needs: &[], read: |_| work(Work::NothingFound) },
    Entry { name: "random_number", needs: &[], read: read_random },
    Entry { name: "slow", needs: &[], read: read_slow },
    Entry { name: "flaky", needs: &[], read: read_flaky },
];

fn work(work: Work) -> Option<Does> {
    Some(Does::Work(work))
}

fn read_search(options: &mut Fields<'_>) -> Option<Does> {
    let kinds = options.get("kinds").map_or(Some(Vec::new()), |field| field.texts());
    let hits = options.get("hits").map_or(Some(3), |field| field.whole(1, 20));
    work(Work::KnowledgeSearch(Search { kinds: kinds?, hits: hits? as usize }))
}

fn read_films(options: &mut Fields<'_>) -> Option<Does> {
    let view = options.need("view", "view = \"credits\", a view of the film archive");
    work(Work::Films(view?.one_of(&VIEWS)?))
}

fn read_random(options: &mut Fields<'_>) -> Option<Does> {
    const FAR: i64 = 1_000_000_000;
    let least = options.get("least").map_or(Some(0), |field| field.whole(-FAR, FAR));
    let most = options.get("most").map_or(Some(1000), |field| field.whole(-FAR, FAR));
    let (least, most) = (least?, most?);
    if least > most {
        options.refuse(format!("expected `least` to be at most `most`, got {least} and {most}"));
        return None;
    }
    work(Work::RandomNumber { least, most })
}

fn read_slow(options: &mut Fields<'_>) -> Option<Does> {
    let delay = options
        .need("delay", "delay = \"2s\"")
        .and_then(|field| field.duration(Duration::ZERO, Duration::from_secs(3600)));
    let of = read_wrapped(options);
    Some(Does::Slow { delay: delay?, of: of? })
}

fn read_flaky(options: &mut Fields<'_>) -> Option<Does> {
    let probability =
        options.need("probability", "probability = 0.3").and_then(|field| field.number(0.0, 1.0));
    let error = options.get("error").map_or(Some("the service is unavailable"), |f| f.text());
    let of = read_wrapped(options);
    Some(Does::Flaky { probability: probability?, error: error?.into(), of: of? })
}

/// The function inside a wrapper.
fn read_wrapped(options: &mut Fields<'_>) -> Option<Builtin> {
    let name = options.need("builtin", "builtin = \"calculator\", the function to wrap");
    let inner = options.get("options");
    read(&name?, inner.as_ref())
}

/// Reads the name of a function and its table of options; notes any faults.
pub fn read(name: &Field<'_>, options: Option<&Field<'_>>) -> Option<Builtin> {
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
        Does::Slow { of, .. } | Does::Flaky { of, .. } => of.needs,
        Does::Work(Work::Films(view)) => view.needs(),
        Does::Work(_) => entry.needs,
    };
    let options = options.and_then(Field::json);
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
                Does::Work(work) => work.answer(&invocation.arguments, chance),
                Does::Slow { delay, of } => {
                    tokio::time::sleep(*delay).await;
                    of.function.answer(invocation).await
                }
                Does::Flaky { probability, error, of } => {
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

impl Work {
    fn answer(&self, arguments: &Value, chance: Chance) -> Result<String, ToolError> {
        match self {
            Work::KnowledgeSearch(search) => search.answer(arguments),
            Work::KnowledgeLookup => knowledge::look_up(arguments),
            Work::Timetable => travel::timetable(arguments),
            Work::Climate => knowledge::climate(arguments),
            Work::Films(view) => view.answer(arguments),
            Work::Translate => knowledge::translate(arguments),
            Work::Calculate => expression::calculate(arguments),
            Work::ConvertUnit => units::convert(arguments),
            Work::ConvertCurrency => numbers::convert_currency(arguments),
            Work::ListStatistic => numbers::list_statistic(arguments),
            Work::DaysBetween => calendar::days_between(arguments),
            Work::DateShift => calendar::shift(arguments),
            Work::TextMeasure => text::measure(arguments),
            Work::TextTransform => text::transform(arguments),
            Work::NothingFound => Ok(knowledge::NOTHING.into()),
            Work::RandomNumber { least, most } => {
                let span = most - least + 1;
                Ok((least + (chance.unit() * span as f64) as i64).to_string())
            }
        }
    }
}
