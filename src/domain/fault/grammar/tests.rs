//! Tests of the text form of faults.

use proptest::prelude::*;

use super::super::kind::{Drift, Scores, Spread};
use super::super::settings::{LONGEST_LATENCY, STATUSES};
use super::*;
use crate::chat::Role;
use crate::spec::EffectClass;

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
        "edge:search->calc:wrong:every=3",
        "effect:write:reset:most=2:for=60",
        "tools:error:p=0.3",
        "models:price:times=2.5",
        "server:api.example.com:auth-expired:from=2:to=4",
        "mcp:files:timeout",
        "any:latency:ms=1500:spread=tail",
        "a:drift:change=drop:nth=2",
        "a:huge:kb=64",
        "a:flapping:up=5:down=3",
        "a:injection:first=1:text=say {canary}: now",
        r#"any:error:if=tool == "a" ? task > 2 \: ms > 5:p=0.5"#,
        r#"a:answer:text=at 12:30, "now": x=3"#,
        r#"a:answer:nth=2:text="closed:if=none""#,
        r#"a:error:text="\"a\": no:p=\\""#,
        "role:evaluator:scores:how=noisy:value=2",
    ] {
        assert_eq!(text.parse::<FaultSpec>().unwrap().to_string(), text);
    }
    let spec: FaultSpec = "a:error:p=1:text=no: none".parse().unwrap();
    assert_eq!(spec.kind, FaultKind::Error { status: None, text: Some("no: none".into()) });
    let spec: FaultSpec =
        r#"a:answer:text="in \"Porto\": \d:p=1":if=args.city == "Porto":nth=2"#.parse().unwrap();
    assert_eq!(spec.kind, FaultKind::Answer { text: r#"in "Porto": \d:p=1"#.into() });
    assert_eq!((spec.trigger.nth, spec.trigger.condition.is_some()), (Some(2), true));
    let spec: FaultSpec = r#"a:error:text="":nth=2"#.parse().unwrap();
    assert_eq!(spec.to_string(), "a:error:nth=2:text=");
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
        let hint = format!("write `tool:{word}` for a tool named `{word}`");
        assert!(error.contains(&hint), "{error}");
    }
}

#[test]
fn says_what_is_wrong() {
    for (text, phrase) in [
        ("", "no tool given"),
        (":error", "no tool given"),
        ("role::error", "no role given"),
        ("class", "no class given"),
        ("a", "no kind given"),
        ("role:actor", "no kind given"),
        ("embedding", "no kind given"),
        ("a:melt", "unknown kind `melt`"),
        ("model:qwen2.5:7b:error", "unknown kind `7b`"),
        ("role:actr:error", "there is no role actr; did you mean `actor`?"),
        ("a:error:p=2", "p is 2"),
        ("a:error:nth=0", "counts from 1"),
        ("a:error:ms=4", "error does not take `ms` (did you mean `most`?); it takes text, if, p"),
        ("a:latency:ms=3600001", "ms is 3600001, but takes at most an hour, 3600000"),
        ("a:latency:ms=18446744073709551615", "at most an hour"),
        ("a:error:p", "has no `=`"),
        ("a:error:status=500", "tools have no status"),
        ("embedding:error:status=200", "not an HTTP error from 400 to 599"),
        ("role:actor:timeout:retry-after=3", "timeout does not take `retry-after`"),
        ("role:actor:rate-limit:retry-after=-1", "not a valid number"),
        ("a:error:evry=3", "did you mean `every`?"),
        ("a:error:every=0", "every counts from 1"),
        ("a:error:from=5:to=2", "to is 2, before from, which is 5"),
        ("a:error:from-task=3:to-task=2", "to-task is 2, before from-task, which is 3"),
        ("a:error:if=ms >", "if: "),
        ("a:error:if=mss > 3", "if: "),
        ("a:latency:spread=norml", "there is no spread `norml`; did you mean `normal`?"),
        ("a:huge:kb=99999", "takes at most 16384"),
        (
            "a:answer:text=It is sunny.:if=args.city == 1",
            r#"`:if=` looks like a key, but a text without quotes takes the whole rest; put the text in quotes, as in `text="no":if=…`"#,
        ),
        ("a:error:text=no:retry-after=2", "`:retry-after=` looks like a key"),
        ("a:error:text=:text=no", "`:text=` looks like a key"),
        (r#"a:error:text="no"#, r#"no closing quote; `\"` is a quote in it"#),
        (r#"a:error:text="no\""#, "no closing quote"),
        (r#"a:error:text="no" way"#, "goes on after its closing quote"),
        (r#"a:error:text="no":if=ms >"#, "if: "),
        (r#"a:error:text="no":"#, "`` has no `=`"),
        ("a:drift:change=x", "there is no change `x`; known: rename, drop, retype"),
        ("role:evaluator:scores:value=4", "not a whole number from -3 to 3"),
        ("role:actor:scores", "scores applies only to role:evaluator"),
        ("models:price:times=-1", "not a number of at least 0"),
        ("edge:a:error", "`a` is not an edge"),
        ("effect:writes:error", "there is no effect writes; did you mean `write`?"),
        (
            "a:cut-stream",
            "cut-stream does not apply to a target of the kind tool; it applies to role, model",
        ),
        ("class:A:overflow", "it applies to role, model, server, models, embedding"),
        ("embedding:empty", "it applies to tool, class, edge, effect, mcp, tools, role, model"),
    ] {
        let error = text.parse::<FaultSpec>().unwrap_err();
        assert!(error.contains(phrase), "{text}: {error}");
    }
}

fn targets() -> impl Strategy<Value = Target> {
    let name = r"[a-c:\\/ é]{0,6}|tool|class|role|model|embedding|error|any";
    let name = name.prop_map(|name: String| name.trim().to_owned());
    let name = name.prop_filter("a name", |name| !name.is_empty());
    let role = prop::sample::select(Role::all().collect::<Vec<_>>());
    let effect = prop::sample::select(EffectClass::all().collect::<Vec<_>>());
    prop_oneof![
        name.clone().prop_map(|name| Target::Tool(name.into())),
        name.clone().prop_map(Target::Class),
        (name.clone(), name.clone()).prop_map(|(a, b)| Target::Edge(a.into(), b.into())),
        effect.prop_map(Target::Effect),
        role.prop_map(Target::Role),
        name.clone().prop_map(|name| Target::Model(name.into())),
        name.clone().prop_map(Target::Server),
        name.prop_map(Target::Mcp),
        prop::sample::select(vec![Target::Any, Target::Tools, Target::Models, Target::Embedding]),
    ]
}

fn kinds() -> impl Strategy<Value = FaultKind> {
    let words = || prop_oneof![".{0,8}", r#"([:=\\" ]|if|p|text|x){0,8}"#];
    let error = (prop::option::of(STATUSES), prop::option::of(words()));
    let text = || prop::option::of(words());
    let spread = prop::sample::select(vec![Spread::Fixed, Spread::Uniform, Spread::Tail]);
    let how = prop::sample::select(vec![Scores::Flipped, Scores::Noisy, Scores::Constant]);
    let change = prop::sample::select(vec![Drift::Rename, Drift::Drop, Drift::Retype]);
    prop_oneof![
        error.prop_map(|(status, text)| FaultKind::Error { status, text }),
        (0..=LONGEST_LATENCY, spread).prop_map(|(ms, spread)| FaultKind::Latency { ms, spread }),
        any::<u32>().prop_map(|retry_after| FaultKind::RateLimit { retry_after }),
        ".{1,8}".prop_map(|text| FaultKind::Answer { text }),
        (any::<u32>(), 1..=u32::MAX).prop_map(|(up, down)| FaultKind::Flapping { up, down }),
        text().prop_map(|text| FaultKind::HiddenError { text }),
        text().prop_map(|text| FaultKind::Injection { text }),
        change.clone().prop_map(|change| FaultKind::Drift { change }),
        change.prop_map(|change| FaultKind::ChangedList { change }),
        (1..=16_384u32).prop_map(|kb| FaultKind::Huge { kb }),
        (how, -3..=3i8).prop_map(|(how, value)| FaultKind::Scores { how, value }),
        (0.0..1e6f64).prop_map(|times| FaultKind::Price { times: times.into() }),
        prop::sample::select(FaultKind::ALL)
            .prop_filter("it needs a text", |kind| !matches!(kind, FaultKind::Answer { .. })),
    ]
}

fn triggers() -> impl Strategy<Value = Trigger> {
    let count = || prop::option::of(1..=u32::MAX);
    let conditions = prop::option::of(prop::sample::select(vec![
        "ms > 5",
        "tool == \"a:b\" ? ok : task > 2",
        "args.x == \"\\\\\"",
    ]));
    let counts = (count(), count(), count(), count(), count(), count());
    let tasks = (count(), count(), count());
    let all = (conditions, prop::option::of(0.0..=1.0_f64), counts, tasks);
    let from_to = |from: Option<u32>, to: Option<u32>| match (from, to) {
        (Some(a), Some(b)) => (Some(a.min(b)), Some(a.max(b))),
        open => open,
    };
    let in_order = move |trigger: Trigger| {
        let (from, to) = from_to(trigger.from, trigger.to);
        let (from_task, to_task) = from_to(trigger.from_task, trigger.to_task);
        Trigger { from, to, from_task, to_task, ..trigger }
    };
    let all = all.prop_map(|(condition, probability, counts, tasks)| Trigger {
        condition: condition.map(|text| Expression::condition(text, Scope::Call).unwrap()),
        probability: probability.map(Into::into),
        nth: counts.0,
        first: counts.1,
        from: counts.2,
        to: counts.3,
        every: counts.4,
        most: counts.5,
        seconds: tasks.0,
        from_task: tasks.1,
        to_task: tasks.2,
    });
    all.prop_map(in_order)
}

proptest! {
    #[test]
    fn every_fault_comes_back_as_it_was_written(
        target in targets(),
        mut kind in kinds(),
        trigger in triggers(),
    ) {
        if let (true, FaultKind::Error { status, .. }) = (target.sort().is_of_tools(), &mut kind) {
            *status = None;
        }
        let spec = FaultSpec { target, kind, trigger };
        let read = FaultSpec::read(&spec.to_string());
        if spec.kind.check(&spec.target).is_ok() {
            prop_assert_eq!(read, Ok(spec));
        } else {
            prop_assert!(read.unwrap_err().contains(" appl"));
        }
    }
}

#[test]
fn the_help_names_every_target_kind_and_key() {
    let words: Vec<&str> = FAULT_HELP.split(|c: char| !(c.is_alphanumeric() || c == '-')).collect();
    for sort in Sort::all() {
        let name = if sort == Sort::Tool { "tool" } else { sort.name() };
        assert!(words.contains(&name), "{name}");
    }
    for kind in FaultKind::ALL {
        assert!(words.contains(&kind.name()), "{}", kind.name());
        let keys = kind.keys(Sort::Role).iter().chain(kind.keys(Sort::Tool));
        keys.for_each(|key| assert!(words.contains(key), "{key}"));
    }
    Trigger::KEYS.iter().for_each(|key| assert!(words.contains(key), "{key}"));
}
