//! What a state answers about a session that is told by hand.

use serde_json::json;
use toolyard::domain::breakpoint::{Trouble, When};
use toolyard::domain::edit::Edit;
use toolyard::domain::event::Caveat;
use toolyard::domain::probe::{LearnedSchema, SchemaSource};
use toolyard::domain::result_schema::{Schema, SchemaMode};
use toolyard::domain::state::{Cause, Keeps, Landmark};
use toolyard::domain::{
    BreakpointEvent, BreakpointId, By, ChangeEvent, ClassAssignment, ClassedBy, ControlEvent,
    EditEvent, EffectClass, EffectId, EffectRef, Event, FaultEvent, FaultId, GraphEvent, Knob,
    Lane, ModelCallEvent, ModelError, ModelErrorKind, NodeEnd, Origin, Outcome, PlanEvent,
    ProbeEvent, Refusal, Role, State, TaskEvent, TaskId, ToolCallEvent, ToolError, ToolErrorKind,
    ToolName, ToolOutput, ToolSpec, ToolVerdict,
};

use crate::story::{Story, TOOLS, effect, tool};

fn story() -> Story {
    let mut story = Story::open();
    story.join(TOOLS.map(|(name, class, cost)| tool(name, class, cost)));
    story.queue(&[("How high is Mount Orla?", None)]).start(1).step(1, 1, "start");
    story
}

#[test]
fn a_refused_call_counts_as_none_of_its_tool() {
    let mut story = story();
    for text in ["a", "b"] {
        story.call(1, 1, ("search_web", json!({"query": text}), Ok("found"), 10));
    }
    story.call(1, 1, ("search_web", json!({"query": "c"}), Err("it broke"), 10));
    story.call(1, 1, ("wikipedia", json!({"query": "a"}), Ok("found"), 10));
    story.refused(1, 1, "search_web", Refusal::TooDear, "it is too dear");
    story.refused(1, 1, "weather", Refusal::TooDear, "it is too dear");
    let lap = story.state().lap(TaskId(1)).unwrap();
    assert_eq!(lap.calls(), 4);
    let calls = ["search_web", "wikipedia", "weather", "population"].map(|tool| lap.calls_of(tool));
    assert_eq!(calls, [3, 1, 0, 0]);
}

#[test]
fn what_went_wrong_with_a_call_is_its_error_or_why_it_was_refused() {
    let mut story = story();
    let good = story.call(1, 1, ("wikipedia", json!({"query": "a"}), Ok("found"), 10));
    let bad = story.call(1, 1, ("wikipedia", json!({"query": "a"}), Err("it broke"), 10));
    story.refused(1, 1, "weather", Refusal::TooDear, "it is too dear");
    let refused = *story.state().task(TaskId(1)).unwrap().tool_calls.last().unwrap();
    let thought = story.ask(1, Role::Actor);
    let said = story.state().error_of(thought).map(str::to_owned);
    assert_eq!(said, None, "it is under way");
    story.tell(ModelCallEvent::ModelCallFailed {
        effect: effect(thought),
        error: ModelError::new(ModelErrorKind::Connection, "nobody answers"),
        billed: None,
    });
    let errors = [good, bad, refused, thought].map(|id| story.state().error_of(id));
    let right = [None, Some("it broke"), Some("it is too dear"), Some("nobody answers")];
    assert_eq!(errors, right);
    story.tell(TaskEvent::TaskFinished {
        task: TaskId(1),
        outcome: Outcome::Failed,
        answer: None,
        correct: None,
        caveats: Vec::new(),
    });
    assert_eq!(story.state().error_of(bad), Some("it broke"));
}

#[test]
fn a_model_cannot_be_used_until_it_has_answered_once() {
    let mut story = story();
    let unusable = |story: &Story, kind| {
        story.state().is_unusable(&"sim".into(), &ModelError::new(kind, "no"))
    };
    let first = [ModelErrorKind::Connection, ModelErrorKind::Timeout, ModelErrorKind::Refused];
    assert_eq!(first.map(|kind| unusable(&story, kind)), [true; 3]);
    let passing = [ModelErrorKind::RateLimited, ModelErrorKind::BadAnswer];
    assert_eq!(passing.map(|kind| unusable(&story, kind)), [false; 2]);
    let mut partial = ModelError::new(ModelErrorKind::Connection, "it broke off");
    partial.partial = "The mountain".into();
    assert!(!story.state().is_unusable(&"sim".into(), &partial), "it has answered a part");
    let thought = story.ask(1, Role::Actor);
    story.answer(thought, "I call.", 10);
    assert_eq!(first.map(|kind| unusable(&story, kind)), [false; 3]);
    assert!(unusable(&story, ModelErrorKind::Auth), "every call needs the key");
}

/// What a list shows of a task stays when its details are forgotten.
#[test]
fn a_task_without_details_keeps_what_it_cost_and_how_often_it_was_planned() {
    let story = crate::spending::btp();
    let mut bare = State::keeping(Keeps::Details(0));
    story.records.iter().for_each(|record| bare.apply(record));
    assert_eq!((bare.bare_tasks().len(), story.state().bare_tasks().len()), (3, 0));
    for id in [TaskId(1), TaskId(2), TaskId(3)] {
        let (whole, bare) = (story.state().task(id).unwrap(), bare.task(id).unwrap());
        assert_eq!(bare.credits(), whole.credits());
        assert_eq!((bare.budget.plans, bare.budget.refused), (1, whole.budget.refused));
        assert_eq!(bare.steps_taken(), whole.steps_taken());
        assert_eq!(bare.answer, whole.answer);
        let (kept, plan) =
            (bare.budget.plan.as_ref().unwrap(), whole.budget.plan.as_ref().unwrap());
        assert_eq!((kept.budget, kept.value, kept.cost), (plan.budget, plan.value, plan.cost));
    }
}

#[test]
fn the_answer_of_a_search_is_told_and_not_the_end_of_its_node() {
    let lines = |story: &Story| story.state().transcript.len();
    let mut answered = crate::spending::search();
    let before = lines(&answered);
    answered.close(1, 6, NodeEnd::Answered);
    assert_eq!(lines(&answered), before);
    let mut failed = crate::spending::search();
    failed.close(1, 6, NodeEnd::GaveUp);
    assert_eq!(lines(&failed), before + 1);
}

/// The places of a session that a person jumps to.
#[test]
fn what_matters_in_a_session_is_a_landmark() {
    let of = |event: Event| Landmark::of(&event).collect::<Vec<_>>();
    let finished = |outcome, correct| {
        let (task, answer, caveats) = (TaskId(1), None, Vec::new());
        of(TaskEvent::TaskFinished { task, outcome, answer, correct, caveats }.into())
    };
    assert_eq!(finished(Outcome::Answered, Some(true)), [Landmark::TaskEnded]);
    assert_eq!(finished(Outcome::Answered, None), [Landmark::TaskEnded]);
    let wrong = [Landmark::TaskEnded, Landmark::Wrong];
    assert_eq!(finished(Outcome::Answered, Some(false)), wrong);
    assert_eq!(finished(Outcome::GaveUp, None), wrong);
    assert_eq!(finished(Outcome::GaveUp, Some(true)), [Landmark::TaskEnded], "nothing was there");
    assert_eq!(finished(Outcome::Stopped, None), [Landmark::TaskEnded]);

    let hit = |holds| {
        let (breakpoint, text) = (BreakpointId(1), String::new());
        let (lane, boundary) = (None, None);
        of(BreakpointEvent::BreakpointHit { breakpoint, lane, boundary, holds, text }.into())
    };
    assert_eq!((hit(true), hit(false)), (vec![Landmark::Stopped], vec![]));

    let turned = |by| {
        of(ChangeEvent::KnobTurned { knob: Knob::Alpha, value: 0.3.into(), was: 0.5.into(), by }
            .into())
    };
    assert_eq!(turned(By::Engine), [Landmark::Changed]);
    for by in [By::User, By::Undo(3), By::Redo(3)] {
        assert_eq!(turned(by), [Landmark::Changed, Landmark::Edited]);
    }
    assert_eq!(of(ControlEvent::PauseRequested { by: By::User, run: None }.into()), []);

    let evaluated = |score, learned| {
        let verdicts = vec![ToolVerdict { tool: "weather".into(), score, reason: String::new() }];
        of(GraphEvent::Evaluated { task: TaskId(1), verdicts, learned }.into())
    };
    assert_eq!(evaluated(1, true), [Landmark::Changed]);
    assert_eq!((evaluated(0, true), evaluated(1, false)), (vec![], vec![]));
    let refused = GraphEvent::EvaluationRefused { task: TaskId(1), why: "no JSON".to_owned() };
    assert_eq!(of(refused.into()), []);

    let failed = |origin| {
        let (effect, error) = (effect(EffectId(1)).from(origin), "it broke".to_owned());
        let error = ToolError::new(ToolErrorKind::Failed, error);
        of(ToolCallEvent::ToolCallFailed { effect, error }.into())
    };
    assert_eq!(failed(Origin::Live), [Landmark::Failed]);
    assert_eq!(failed(Origin::Injected), [Landmark::FailedByFault]);
}

#[test]
fn the_totals_of_a_session_are_those_of_its_tasks_calls_and_changes() {
    let mut story = crate::spending::btp();
    story.break_tool("weather");
    let totals = story.state().totals();
    assert_eq!((totals.tasks, totals.done, totals.right, totals.judged), (4, 3, 3, 3));
    assert_eq!((totals.model_calls, totals.unpriced, totals.dollars), (7, 7, Some(0.0.into())));
    assert_eq!(totals.faults, ["weather"]);
    // Tau, the uses of a tool, and the fault; the model of a role was set before the first task.
    assert_eq!(totals.edits, 3);
}

#[test]
fn what_a_grader_costs_is_added_up_beside_the_task() {
    let mut story = story();
    let was = "sim".into();
    let (role, model) = (Role::Grader, "local".into());
    story.tell(ChangeEvent::RoleBound { role, model, was, by: By::User });
    for _ in 0..2 {
        let asked = story.ask(1, Role::Grader);
        story.answer(asked, "right", 10);
    }
    let task = story.state().task(TaskId(1)).unwrap();
    let grading = task.grading.as_ref().unwrap();
    let counted = (grading.tokens_in, grading.tokens_out, grading.unpriced, grading.dollars);
    assert_eq!(counted, (1280, 82, 2, 0.0.into()));
    assert_eq!((task.tokens(), task.unpriced), (0, 0));
}

/// An event that is made later names an effect as the first one did.
#[test]
fn an_effect_is_named_as_its_request_named_it() {
    let mut story = story();
    story.call(1, 1, ("search_web", json!({"query": "a"}), Ok("found"), 10));
    let below = EffectRef {
        parent: Some(EffectId(1)),
        lane: Some(Lane::Effect(EffectId(1))),
        ..effect(EffectId(2))
    };
    story.tell(ToolCallEvent::ToolCallRequested {
        effect: below,
        task: TaskId(1),
        step: 1,
        tool: "wikipedia".into(),
        arguments: json!({"query": "a"}),
        evidence: None,
        by: By::Engine,
        wire_id: None,
    });
    let named = |id| story.state().effect(EffectId(id)).unwrap().reference();
    assert_eq!((named(1), named(2)), (effect(EffectId(1)), below));
}

/// A pause of everything is on the screen; that of one call alone is told.
#[test]
fn a_call_that_is_held_alone_is_told() {
    let mut story = story();
    let call = story.request_call(1, 1, "wikipedia", json!({"query": "a"}));
    let lines = |story: &Story| story.state().transcript.len();
    let (lane, by, before) = (Lane::Effect(call), By::User, lines(&story));
    story.tell(ControlEvent::LanePaused { lane, by });
    assert_eq!(lines(&story), before + 1);
    story.tell(ControlEvent::LaneResumed { lane, by });
    assert_eq!(lines(&story), before + 2);
    story.tell(ControlEvent::PauseRequested { by, run: None });
    story.tell(ControlEvent::Paused { run: None });
    assert_eq!(lines(&story), before + 2);
}

#[test]
fn what_moved_the_weights_last_is_the_last_change_of_them() {
    let mut story = story();
    assert_eq!(story.state().last_move(), None);
    story.evaluate(1, &[("weather", 1, "it helped")]);
    let evaluation = Some(Cause::Evaluation { task: TaskId(1) });
    assert_eq!(story.state().last_move(), evaluation);
    let by = By::User;
    story.tell(ChangeEvent::KnobTurned {
        knob: Knob::Tau,
        value: 0.3.into(),
        was: 0.15.into(),
        by,
    });
    assert_eq!(story.state().last_move(), evaluation, "tau moves no weight");
    story.tell(ChangeEvent::KnobTurned {
        knob: Knob::Beta,
        value: 0.3.into(),
        was: 0.5.into(),
        by,
    });
    assert_eq!(story.state().last_move(), Some(Cause::Knob { knob: Knob::Beta, was: 0.5 }));
    let tool = || "weather".into();
    story.tell(GraphEvent::ScoreSet { tool: tool(), score: 3.0.into(), was: 1.0.into(), by });
    assert_eq!(story.state().last_move(), Some(Cause::Score { tool: tool(), was: 1.0 }));
    let from = || "search_web".into();
    story.tell(GraphEvent::WeightPinned {
        from: from(),
        to: tool(),
        weight: 0.9.into(),
        was: None,
        by,
    });
    let pin = |was| Some(Cause::Pin { from: from(), to: tool(), was });
    assert_eq!(story.state().last_move(), pin(None));
    story.tell(GraphEvent::WeightUnpinned { from: from(), to: tool(), was: 0.9.into(), by });
    assert_eq!(story.state().last_move(), pin(Some(0.9)));
    story.evaluate(1, &[("weather", 1, "it helped")]);
    assert_eq!(story.state().last_move(), evaluation, "what was learned since moved them again");
}

#[test]
fn a_session_has_work_while_a_task_waits_or_is_at_work() {
    let mut story = Story::open();
    assert!(!story.state().has_work());
    story.queue(&[("How high is Mount Orla?", None)]);
    assert!(story.state().has_work(), "a task waits");
    story.start(1);
    assert!(story.state().has_work());
    story.tell(TaskEvent::TaskFinished {
        task: TaskId(1),
        outcome: Outcome::GaveUp,
        answer: None,
        correct: None,
        caveats: Vec::new(),
    });
    assert!(!story.state().has_work());
}

#[test]
fn what_was_learned_since_a_score_was_set_stays_when_that_is_undone_and_redone() {
    let mut story = story();
    let set = |score: f64, was: f64| {
        let (score, was) = (score.into(), was.into());
        Event::from(GraphEvent::ScoreSet { tool: "weather".into(), score, was, by: By::User })
    };
    story.tell(set(5.0, 1.0));
    story.evaluate(1, &[("weather", 2, "it helped"), ("search_web", 3, "it helped")]);
    let changes: Vec<_> = story.state().control.changes.undo.iter().map(|it| &it.event).collect();
    assert_eq!(changes, [&set(7.0, 3.0)]);
}

#[test]
fn the_same_call_again_and_again_is_a_loop() {
    let mut story = story();
    let mut loops = Vec::new();
    for (tool, text) in
        [("weather", "a"), ("weather", "b"), ("weather", "a"), ("wikipedia", "a"), ("weather", "a")]
    {
        let call = story.call(1, 1, (tool, json!({"query": text}), Ok("found"), 10));
        loops.push(story.state().troubles(call, When::Before).any(|it| it == Trouble::Loop));
    }
    assert_eq!(loops, [false, false, false, false, true]);
}

#[test]
fn a_result_of_which_only_the_beginning_is_known_is_none_in_json() {
    let mut story = story();
    let mut result = |text: &str, cut_from| {
        let call = story.request_call(1, 1, "weather", json!({"query": "a"}));
        let output = ToolOutput { cut_from, ..ToolOutput::of(text) }.into();
        story.tell(ToolCallEvent::ToolCallFinished { effect: effect(call), output });
        story.state().json_result(call)
    };
    assert_eq!(result("{\"a\": 1}", None), Some(json!({"a": 1})));
    assert_eq!(result("warm", None), Some(json!("warm")));
    assert_eq!(result("{\"a\": 1}", Some(100)), None);
    let failed = story.call(1, 1, ("weather", json!({"query": "a"}), Err("it broke"), 10));
    assert_eq!(story.state().json_result(failed), None);
}

#[test]
fn an_armed_fault_breaks_the_tools_that_it_is_for() {
    let broken = |fault: &str| {
        let mut story = Story::open();
        let book = ToolSpec { effect: EffectClass::Write, ..tool("book", "Travel", 1.0) };
        story.join([book, tool("weather", "Travel", 1.0), tool("wikipedia", "Web", 1.0)]);
        let (fault, spec) = (FaultId(1), fault.parse().unwrap());
        story.tell(FaultEvent::FaultArmed { fault, spec, by: By::User });
        let mut names: Vec<String> =
            story.state().broken_tools().into_iter().map(ToString::to_string).collect();
        names.sort();
        names
    };
    assert_eq!(broken("effect:write:error"), ["book"]);
    assert_eq!(broken("class:travel:error"), ["book", "weather"]);
    assert_eq!(broken("wikipedia:error"), ["wikipedia"]);
    assert_eq!(broken("role:actor:error"), Vec::<String>::new());
}

#[test]
fn the_favourite_is_the_tool_that_was_called_most_and_else_the_one_with_the_highest_score() {
    let mut story = story();
    story.evaluate(1, &[("weather", 2, "it helped"), ("wikipedia", 3, "it helped")]);
    let favourite = |story: &Story| story.state().favourite().unwrap().to_string();
    assert_eq!(favourite(&story), "wikipedia");
    for tool in ["search_web", "weather", "search_web"] {
        story.call(1, 1, (tool, json!({"query": "a"}), Ok("found"), 10));
    }
    assert_eq!(favourite(&story), "search_web");
    let tool = "search_web".into();
    story.tell(ChangeEvent::ToolSwitched { tool, on: false, by: By::User });
    assert_eq!(favourite(&story), "weather");
}

#[test]
fn a_class_of_a_better_source_stays() {
    let mut story = Story::open();
    story.join([tool("weather", "", 1.0)]);
    let mut classify = |class: &str, by| {
        let (class, domain) = (class.to_owned(), None);
        let tools = vec![("weather".into(), ClassAssignment { class, domain, by })];
        story.tell(PlanEvent::ToolsClassified { tools });
        story.state().tools[&ToolName::from("weather")].class.as_ref().unwrap().class.clone()
    };
    assert_eq!(classify("Kept", ClassedBy::Kept), "Kept");
    assert_eq!(classify("Sorted", ClassedBy::Model), "Sorted");
    assert_eq!(classify("Again", ClassedBy::Model), "Again", "the last one of equals");
    assert_eq!(classify("Kept", ClassedBy::Kept), "Again");
}

#[test]
fn what_a_tool_returned_is_forgotten_when_its_manifest_changes() {
    let mut story = story();
    let learned = LearnedSchema {
        schema: Schema::of(SchemaMode::Merged, &[json!({"id": 1})]),
        mode: SchemaMode::Merged,
        question: String::new(),
        arguments: json!({}),
        after: vec![],
        samples: 1,
        pass: 0,
        tokens: 10,
        program: String::new(),
        response: String::new(),
        merged: vec![],
    };
    let (tool, source) = ("weather".into(), SchemaSource::Probed);
    story.tell(ProbeEvent::SchemaLearned { tool, learned: learned.into(), source });
    let is_known =
        |story: &Story| story.state().tools[&ToolName::from("weather")].learned.is_some();
    let spec = ToolSpec::clone(&story.state().tools[&ToolName::from("weather")].spec);
    story.join([spec.clone()]);
    assert!(is_known(&story), "it is the same tool");
    story.join([ToolSpec { description: "Other.".into(), ..spec }]);
    assert!(!is_known(&story));
}

#[test]
fn the_model_that_cannot_be_used_is_the_one_whose_last_call_failed_so() {
    let fail = |story: &mut Story, kind, origin| {
        let ask = story.ask(1, Role::Actor);
        story.tell(ModelCallEvent::ModelCallFailed {
            effect: effect(ask).from(origin),
            error: ModelError::new(kind, "no"),
            billed: None,
        });
    };
    let unusable = |story: &Story| story.state().unusable_model().map(|(name, _)| name.to_string());
    let mut story = story();
    assert_eq!(unusable(&story), None);
    fail(&mut story, ModelErrorKind::Auth, Origin::Live);
    assert_eq!(unusable(&story).as_deref(), Some("sim"));
    fail(&mut story, ModelErrorKind::Endpoint, Origin::Live);
    assert_eq!(unusable(&story), None, "it may answer the next call");
    fail(&mut story, ModelErrorKind::Auth, Origin::Injected);
    assert_eq!(unusable(&story), None, "it was not asked");
    fail(&mut story, ModelErrorKind::Auth, Origin::Recorded);
    assert_eq!(unusable(&story).as_deref(), Some("sim"));
    let (role, model, was) = (Role::Actor, "local".into(), "sim".into());
    story.tell(ChangeEvent::RoleBound { role, model, was, by: By::User });
    assert_eq!(unusable(&story), None, "another model has its role");
}

#[test]
fn how_a_task_ended_is_said_with_its_caveats() {
    let ended = |caveats| {
        let mut story = story();
        let (task, outcome, answer, correct) = (TaskId(1), Outcome::Answered, None, None);
        story.tell(TaskEvent::TaskFinished { task, outcome, answer, correct, caveats });
        story.state().task(task).unwrap().ended_as()
    };
    assert_eq!(story().state().task(TaskId(1)).unwrap().ended_as(), None);
    assert_eq!(ended(vec![]).as_deref(), Some("answered"));
    assert_eq!(ended(vec![Caveat::WithoutEvidence]).as_deref(), Some("answered without evidence"));
}

#[test]
fn scores_add_up() {
    let mut story = story();
    for score in [2, -1] {
        story.evaluate(1, &[("weather", score, "it helped")]);
    }
    assert_eq!(story.state().learning.score(&"weather".into()), 1.0);
}

#[test]
fn the_edits_of_a_call_that_nobody_undid_are_counted() {
    let mut story = story();
    let call = story.request_call(1, 1, "weather", json!({"query": "a"}));
    let kept = |story: &Story| {
        serde_json::to_value(story.state().tool_call(call).unwrap()).unwrap()["edits"].clone()
    };
    assert_eq!(kept(&story), json!(null));
    let edit = |query: &str| Box::new(Edit::Arguments(json!({"query": query})));
    let (effect, shown) = (effect(call), false);
    let told = [
        (edit("b"), edit("a"), By::User, json!(1)),
        (edit("c"), edit("b"), By::User, json!(2)),
        (edit("b"), edit("c"), By::Undo(2), json!(1)),
        (edit("a"), edit("b"), By::Undo(1), json!(null)),
        (edit("b"), edit("a"), By::Redo(4), json!(1)),
    ];
    for (edit, was, by, edits) in told {
        story.tell(EditEvent::CallEdited { effect, edit, was, shown, past: false, by });
        assert_eq!(kept(&story), edits);
    }
}
