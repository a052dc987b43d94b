//! A long result: the model gets its beginning and reads on, and everybody else has the whole.

use serde_json::json;
use toolyard::domain::{
    EffectClass, EffectId, Knob, ModelError, Outcome, Rates, Reply, Request, Role, State,
    ToolCallPhase, ToolMode, ToolName,
};

use super::yard::{Trial, calls, observed, on_paused_time, say};

/// 1,000 characters that tell where they are.
fn long() -> String {
    (0..100).map(|n| format!("[ä{n:06}]ö")).collect()
}

fn part(from: usize, length: usize) -> String {
    long().chars().skip(from).take(length).collect()
}

fn call() -> Result<Reply, ModelError> {
    Ok(calls(&[("echo", json!({ "text": long() }))]))
}

fn more(result: usize, from: usize) -> Result<Reply, ModelError> {
    Ok(calls(&[("more", json!({ "result": result, "from": from }))]))
}

/// A session whose model sees 400 characters of a result.
fn trial(replies: Vec<Result<Reply, ModelError>>) -> Trial {
    let knobs = vec![(Knob::ResultMax, 400.0)];
    Trial { replies, strategy: "react", names: &["echo"], knobs, ..Trial::default() }
}

fn requests(state: &State, role: Role) -> Vec<&Request> {
    let calls = state.model_calls.iter().filter(move |call| call.role == role);
    calls.map(|call| &*call.request).collect()
}

fn tools(request: &Request) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

fn output(state: &State, effect: u32) -> &str {
    match &state.tool_call(EffectId(effect)).unwrap().phase {
        ToolCallPhase::Done { output } => &output.text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_model_reads_a_long_result_to_its_end() {
    on_paused_time(async {
        let yard = trial(vec![call(), more(1, 400), more(1, 800)]).start();
        let state = yard.session.await.unwrap();
        let asked = requests(&state, Role::Actor);
        assert_eq!(tools(asked[0]), ["echo", "Finish"]);
        let said = "\n[… 600 of 1,000 characters left out. \
                    Call more with {\"result\": 1, \"from\": 400} to read on.]";
        assert_eq!(observed(asked[1]), part(0, 400) + said);
        assert_eq!(tools(asked[1]), ["echo", "Finish", "more"]);
        let said = "\n[… 200 of 1,000 characters left out. \
                    Call more with {\"result\": 1, \"from\": 800} to read on.]";
        assert_eq!(observed(asked[2]), part(400, 400) + said);
        assert_eq!(observed(asked[3]), part(800, 200));
        assert_eq!(tools(asked[3]), ["echo", "Finish", "more"], "it stays, for the prompt cache");
        assert_eq!(output(&state, 2), long(), "the journal has the whole");
        let read = state.tool_call(EffectId(4)).unwrap();
        assert_eq!((read.tool.as_str(), read.class), ("more", EffectClass::Read));
    });
}

#[test]
fn a_model_in_text_mode_reads_on() {
    on_paused_time(async {
        let action = |name: &str, input: String| {
            Ok(say(&format!("Thought: I call.\nAction: {name}\nAction Input: {input}")))
        };
        let replies = vec![
            action("echo", json!({ "text": long() }).to_string()),
            action("more", json!({ "result": 1, "from": 400 }).to_string()),
            Ok(say("Final Answer: done")),
        ];
        let yard = Trial { tools: ToolMode::Text, ..trial(replies) }.start();
        let state = yard.session.await.unwrap();
        let asked = requests(&state, Role::Actor);
        let said = |n: usize| {
            let texts = asked[n].messages.iter().map(|message| message.text().to_owned());
            texts.collect::<Vec<_>>().join("\n")
        };
        assert!(said(1).contains("Call more with {\"result\": 1, \"from\": 400} to read on.]"));
        assert!(said(1).contains("Read on in an earlier result"), "{}", said(1));
        assert!(!said(0).contains("Read on in an earlier result"), "{}", said(0));
        assert!(said(2).contains(&part(400, 400)));
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Answered));
    });
}

#[test]
fn what_cannot_be_read_is_refused_with_the_reason() {
    on_paused_time(async {
        let wrong = json!({ "result": "the first" });
        let replies =
            vec![call(), more(9, 0), more(1, 5000), Ok(calls(&[("more", wrong)])), more(1, 900)];
        let yard = trial(replies).start();
        let state = yard.session.await.unwrap();
        let asked = requests(&state, Role::Actor);
        let told: Vec<_> = asked[2..].iter().map(|request| observed(request)).collect();
        let whole = "expected a whole number, as the end of the result says";
        assert_eq!(
            told,
            [
                "Not called: arguments.result: there is no result 9".to_owned(),
                "Not called: arguments.from: result 1 has only 1000 characters".to_owned(),
                format!("Not called: arguments.result: {whole}"),
                part(900, 100),
            ]
        );
    });
}

#[test]
fn reading_on_costs_nothing_and_is_no_use_of_a_tool() {
    on_paused_time(async {
        let knobs = vec![(Knob::ResultMax, 400.0), (Knob::Budget, 20.0)];
        let rates = Rates {
            credits_per_dollar: 0.0.into(),
            credits_per_second: 1.0.into(),
            ..Rates::default()
        };
        for strategy in ["toolnet", "toolnet+btp", "dfsdt", "tot-dfs"] {
            let knobs = knobs.clone();
            let trial = Trial { strategy, knobs, rates, ..trial(vec![call(), more(1, 400)]) };
            let yard = trial.start();
            let state = yard.session.await.unwrap();
            let read = state.tool_calls.iter().find(|call| call.tool.as_str() == "more").unwrap();
            assert!(matches!(read.phase, ToolCallPhase::Done { .. }), "{strategy}: {read:?}");
            assert_eq!(read.helpful, None, "{strategy}: it is not judged");
            let name = ToolName::from("more");
            let budget = serde_json::to_string(&state.tasks[0].budget).unwrap();
            assert!(!budget.contains("more"), "{strategy}: {budget}");
            let learned = serde_json::to_string(&state.learning).unwrap();
            assert!(!learned.contains("\"more\""), "{strategy}: {learned}");
            assert!(state.tasks[0].steps.iter().all(|step| step.from != name), "{strategy}");
        }
    });
}

#[test]
fn a_summary_reads_no_further() {
    on_paused_time(async {
        for steps in [1u32, 2] {
            let most = (Knob::MaxSteps, f64::from(steps));
            let knobs = vec![(Knob::ResultMax, 400.0), (Knob::Budget, 20.0), most];
            let rates = Rates { credits_per_dollar: 0.0.into(), ..Rates::default() };
            let replies = vec![call(), more(1, 400)].into_iter().take(steps as usize).collect();
            let yard = Trial { strategy: "react+btp", knobs, rates, ..trial(replies) }.start();
            let state = yard.session.await.unwrap();
            let asked = requests(&state, Role::Actor);
            let (before, last) = (asked[asked.len() - 2], asked[asked.len() - 1]);
            assert_eq!(last.allowed, [ToolName::from("Finish")]);
            assert_eq!(tools(last), tools(before), "for the prompt cache");
        }
    });
}

#[test]
fn a_tool_of_this_name_is_called_and_nothing_else() {
    on_paused_time(async {
        let own = Ok(calls(&[("more", json!({ "text": "mine" }))]));
        let yard = Trial { names: &["echo", "more"], ..trial(vec![call(), own]) }.start();
        let state = yard.session.await.unwrap();
        let asked = requests(&state, Role::Actor);
        assert_eq!(observed(asked[1]), part(0, 400) + "\n[… 600 of 1,000 characters left out.]");
        assert_eq!(tools(asked[1]), ["echo", "more", "Finish"]);
        assert_eq!(observed(asked[2]), "mine");
    });
}

#[test]
fn all_who_cannot_read_on_get_the_beginning() {
    on_paused_time(async {
        let plan = format!("Plan: ask.\n#E1 = echo[{}]", "x".repeat(1000));
        let cases = [
            ("toolnet", vec![call()], Role::Evaluator),
            ("react", vec![call(), Ok(say("{\"helpful\": true}"))], Role::Judge),
            ("toolnet+reflexion", vec![call(), Ok(say("wrong"))], Role::Reflector),
            ("rewoo", vec![Ok(say(&plan)), Ok(say("done"))], Role::Solver),
        ];
        for (strategy, replies, role) in cases {
            let judge = (Knob::Judge, f64::from(u8::from(role == Role::Judge)));
            let knobs = vec![(Knob::ResultMax, 400.0), (Knob::GoldFeedback, 1.0), judge];
            let yard = Trial { strategy, knobs, ..trial(replies) }.start();
            let state = yard.session.await.unwrap();
            let asked = requests(&state, role);
            let text = asked.first().map(|request| request.messages.last().unwrap().text());
            let text = text.unwrap_or_else(|| panic!("{strategy}: nobody asked the {role}"));
            assert!(text.contains("[… 600 of 1,000 characters left out.]"), "{role}: {text}");
            // The arguments are as long as the result, and are there in full.
            assert!(text.chars().count() < 1900, "{role}: {text}");
        }
    });
}
