//! A scenario as the text of a file.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Expectations, Scenario};
use crate::session::SessionSpec;

#[derive(Serialize)]
struct ScenarioDocument<'s> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<&'s str>,
    #[serde(flatten)]
    session: Map<String, Value>,
    expect: &'s Expectations,
}

impl Scenario {
    /// The text of a file with only the fields that differ from the default.
    ///
    /// # Errors
    /// A value that TOML does not have, such as a number beyond 64 bits.
    pub fn to_toml(&self) -> Result<String, String> {
        let session = changed(&self.session).map_err(|error| error.to_string())?;
        let (name, about) = (self.name.as_deref(), self.about.as_deref());
        let written = ScenarioDocument { name, about, session, expect: &self.expect };
        toml::to_string(&written).map_err(|error| error.to_string())
    }
}

/// The fields that differ from an empty file.
fn changed(spec: &SessionSpec) -> serde_json::Result<Map<String, Value>> {
    let fields = |spec: &SessionSpec| -> serde_json::Result<Map<String, Value>> {
        serde_json::from_str(&serde_json::to_string(spec)?)
    };
    let default = fields(&SessionSpec::default())?;
    let mut own = fields(spec)?;
    own.retain(|key, value| default.get(key) != Some(value));
    own.values_mut().for_each(drop_null);
    Ok(own)
}

/// TOML has no null: a field without a value is not written.
fn drop_null(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_null);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_null),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::option::of;
    use proptest::prelude::*;

    use super::*;
    use crate::domain::expression::{Expression, Scope};
    use crate::domain::{Knob, Task};
    use crate::scenario::expect::{
        AtLeast, ConversationExpectations, EndExpectations, QuestionRef, TaskExpectations, TaskRef,
    };
    use crate::scenario::expected_call::ExpectedCall;
    use crate::scenario::limits::Limits;
    use crate::session::TaskSource;

    /// Texts with everything that TOML must escape.
    fn text() -> impl Strategy<Value = String> {
        proptest::string::string_regex("[a-zé\"'\\\\#\\[\\]=.{}\n\t\u{1}☃ ]{0,12}x").unwrap()
    }

    fn tools(first: &'static str) -> impl Strategy<Value = Vec<ExpectedCall>> {
        let called = (text(), of((text(), text(), any::<i64>())));
        let called = called.prop_map(move |(name, args)| {
            let tool = format!("{first}{name}").into();
            let Some((name, value, number)) = args else { return ExpectedCall::Tool(tool) };
            let args = [(name, serde_json::json!({ value: [number, [{ "on": true }]] }))];
            ExpectedCall::With { tool, args: args.into_iter().collect() }
        });
        proptest::collection::vec(called, 0..3)
    }

    fn least() -> impl Strategy<Value = AtLeast> {
        prop_oneof![
            (0..1000u64).prop_map(AtLeast::Count),
            (0..=1000u32).prop_map(|tenths| AtLeast::Percent(f64::from(tenths) / 10.0)),
        ]
    }

    fn limits() -> impl Strategy<Value = Limits> {
        let amounts = (of(0.0..1e6), of(0.0..1e3));
        let counts = (of(0..1000u64), of(0..1000u64), of(0..1_000_000u64));
        (tools("u"), tools("n"), counts, amounts).prop_map(|(used, not_used, counts, amounts)| {
            Limits {
                used,
                not_used,
                calls: counts.0,
                model_calls: counts.1,
                tokens: counts.2,
                credits: amounts.0,
                dollars: amounts.1,
            }
        })
    }

    fn of_task() -> impl Strategy<Value = TaskExpectations> {
        let task =
            prop_oneof![(1..99u32).prop_map(TaskRef::Number), text().prop_map(TaskRef::Name)];
        let flags = (of(any::<bool>()), any::<bool>());
        (task, flags, of(text()), of(text()), limits()).prop_map(
            |(task, flags, answer, contains, limits)| {
                // At least one is there.
                let (answered, right) = (flags.0, Some(flags.1));
                let end = EndExpectations { answered, right, answer, contains, limits };
                TaskExpectations { task, end }
            },
        )
    }

    fn of_conversation() -> impl Strategy<Value = ConversationExpectations> {
        let question =
            of(prop_oneof![Just(QuestionRef::Every), (1..99u32).prop_map(QuestionRef::Number)]);
        ((text(), question), any::<bool>(), of(text()), of(text()), limits()).prop_map(
            |((begins, question), answered, answer, contains, limits)| {
                let (answered, right) = (Some(answered), None);
                let end = EndExpectations { answered, right, answer, contains, limits };
                ConversationExpectations { begins, question, end }
            },
        )
    }

    fn expectations() -> impl Strategy<Value = Expectations> {
        let texts = ["done == 3", "score.a < 0.5 && right > 0", "knob.tau >= 0.1 || false"];
        let condition = |text: &str| Expression::condition(text, Scope::Session).unwrap();
        let conditions = texts.map(condition).to_vec();
        let holds = proptest::sample::subsequence(conditions, 0..=3);
        let counts = (of(least()), of(least()), of(0..99u64), any::<bool>(), of(least()));
        let tasks = proptest::collection::vec(of_task(), 0..3);
        let tasks = (tasks, proptest::collection::vec(of_conversation(), 0..3));
        (counts, limits(), holds, tasks).prop_map(|(counts, limits, holds, tasks)| Expectations {
            answered: counts.0,
            right: counts.1.or(Some(AtLeast::Count(0))),
            limits,
            recovered: counts.2,
            writes_once: counts.3,
            at_least: counts.4,
            holds,
            tasks: tasks.0,
            conversations: tasks.1,
        })
    }

    fn sessions() -> impl Strategy<Value = SessionSpec> {
        let task = (text(), of(text()), text()).prop_map(|(text, gold, name)| Task {
            gold,
            name,
            ..Task::from_text(text)
        });
        let task = task.prop_map(|task| task.followed_by("and then?", "no"));
        let tasks = proptest::collection::vec(task, 1..3);
        let seed = of(any::<u64>());
        (seed, of(text()), of(0..99usize), of(tasks), 0.0..9.0).prop_map(
            |(seed, folder, tasks_limit, tasks, budget)| SessionSpec {
                seed,
                workspace: folder.map(Into::into),
                tasks_limit,
                strategy: Some("react+btp".parse().unwrap()),
                faults: vec!["a:error:p=0.5:text=no: none".parse().unwrap()],
                breakpoints: vec!["a:after:if=ms > 5:log={ms} \\: {tool}".parse().unwrap()],
                tasks: tasks.map_or(TaskSource::Workspace, TaskSource::List),
                knobs: [(Knob::Budget, budget), (Knob::Blacklist, 2.0)].into(),
                ..SessionSpec::default()
            },
        )
    }

    proptest! {
        #[test]
        fn a_scenario_reads_as_it_was_written(
            name in of(text()),
            about in of(text()),
            session in sessions(),
            expect in expectations(),
        ) {
            let scenario = Scenario { name, about, session, expect };
            let text = scenario.to_toml().unwrap();
            let read = Scenario::parse("s.toml", &text);
            prop_assert_eq!(read.as_ref(), Ok(&scenario), "{}", text);
        }
    }

    #[test]
    fn only_what_differs_is_written() {
        let scenario = Scenario {
            session: SessionSpec { seed: Some(3), ..SessionSpec::default() },
            expect: Expectations { right: Some(AtLeast::Percent(80.0)), ..Expectations::default() },
            ..Scenario::default()
        };
        assert_eq!(scenario.to_toml().unwrap(), "seed = 3\n\n[expect]\nright = \"80%\"\n");
    }
}
