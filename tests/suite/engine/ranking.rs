//! Tools that a reader ranks by more than their words: the order of menus, and how a session goes on
//! without it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use futures::stream::{self, LocalBoxStream};
use futures::{FutureExt, StreamExt, future, future::LocalBoxFuture};
use serde_json::json;
use toolyard::domain::Retrieve;
use toolyard::domain::{
    EmbeddingEvent, Event, JudgedPiece, Knob, Lexical, MenuReason, ModelError, ModelSpec,
    ReaderAbout, ReaderEvent, Record, Reply, State, ToolSpec, Usage,
};
use toolyard::engine::{Beginning, Query, Ranker, Scored, on_this_machine};
use toolyard::strategy::preview::Preview;

use super::yard::{Trial, Yard, calls, say};

/// A reader that knows what it is told.
pub struct Told {
    pub spec: ModelSpec,
    /// The tools from the best to the worst.
    pub best: Vec<&'static str>,
    /// The probability of a call after a text that ends so.
    pub judged: Vec<(&'static str, f32)>,
    /// What it was asked.
    pub asked: Rc<RefCell<Vec<String>>>,
}

impl Default for Told {
    fn default() -> Self {
        let (best, judged, asked) = Default::default();
        Self { spec: on_this_machine("told"), best, judged, asked }
    }
}

impl Ranker for Told {
    fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    fn take_tools(&self, _tools: Vec<Arc<ToolSpec>>) {}

    fn rank<'a>(&'a self, query: Query<'a>) -> LocalBoxFuture<'a, Result<Scored, ModelError>> {
        self.asked.borrow_mut().push(query.question.to_owned());
        let scores =
            (0..).zip(self.best.iter().rev()).map(|(i, tool)| ((*tool).into(), f64::from(i)));
        let states: HashMap<_, _> = scores.collect();
        future::ready(Ok(Scored { queries: 7, states, usage: Usage::default(), notice: None }))
            .boxed_local()
    }

    fn judge<'a>(
        &'a self,
        query: Query<'a>,
        from: usize,
    ) -> LocalBoxFuture<'a, Option<Vec<JudgedPiece>>> {
        let text = query.answer.unwrap_or_default();
        let ends = text.char_indices().map(|(at, c)| at + c.len_utf8()).filter(|end| *end > from);
        let p = |end: usize| {
            let found = self.judged.iter().find(|(suffix, _)| text[..end].ends_with(suffix));
            found.map_or(0.0, |(_, p)| *p)
        };
        let pieces = ends.map(|end| JudgedPiece { end: end - from, p: p(end).into() }).collect();
        future::ready((!self.judged.is_empty()).then_some(pieces)).boxed_local()
    }

    fn news(&self) -> LocalBoxStream<'static, ReaderEvent> {
        let reader = ReaderAbout { model: "told".to_owned(), ..ReaderAbout::default() };
        stream::iter([ReaderEvent::HeadsLoaded { reader }]).boxed_local()
    }
}

fn trial(told: Told) -> Trial {
    Trial {
        strategy: "toolnet",
        names: &["echo", "alpha", "beta", "gamma"],
        knobs: vec![(Knob::TopK, 2.0), (Knob::Retrieve, f64::from(Retrieve::States as u8))],
        ranker: Some(Rc::new(told)),
        ..Trial::default()
    }
}

/// The session's last state, and all its records.
pub async fn run(trial: Trial) -> (State, Vec<Record>) {
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let Yard { session, records, commands: _commands, .. } = trial.start();
            let state = session.await.unwrap();
            let records: Vec<Record> = records.borrow().iter().map(|it| (**it).clone()).collect();
            assert_eq!(State::fold(&records), state, "a replay needs no reader");
            (state, records)
        })
        .await
}

fn first_menu(state: &State) -> Vec<&str> {
    let menu = state.tasks[0].steps[0].menu.iter();
    menu.filter(|item| item.why == MenuReason::Retrieved).map(|item| item.tool.as_str()).collect()
}

fn by_name(state: &State) -> Vec<&str> {
    let mut menu = first_menu(state);
    menu.sort_unstable();
    menu
}

fn told() -> Told {
    Told { best: vec!["gamma", "beta", "alpha", "echo"], ..Told::default() }
}

#[tokio::test(start_paused = true)]
async fn the_first_menu_has_the_tools_that_suit_the_task_by_its_meaning() {
    let reader = told();
    let asked = Rc::clone(&reader.asked);
    let (state, records) = run(trial(reader)).await;
    assert_eq!(by_name(&state), ["beta", "gamma"]);
    assert_eq!(asked.borrow()[0], "Say hello.");
    let ranking = state.embeddings.iter().next().unwrap().ranking.clone().unwrap();
    assert_eq!((ranking.pool, ranking.encoded, ranking.queries), (4, 4, 7));
    let kinds: Vec<_> = records.iter().map(|record| record.event.kind()).collect();
    let at = |kind: &str| kinds.iter().position(|it| *it == kind).unwrap();
    assert!(at("EmbeddingFinished") < at("StepStarted"));
    assert_eq!(state.reader.unwrap().about.model, "told");
}

#[tokio::test(start_paused = true)]
async fn a_thought_is_read_after_its_task() {
    let reader = told();
    let asked = Rc::clone(&reader.asked);
    let thought = "A lamp, or a door?".to_owned();
    let call = calls(&[("echo", json!({"text": "x", "ms": 1}))]);
    let replies = vec![Ok(Reply { text: thought, ..call }), Ok(say("Final answer: hello"))];
    let (state, _) = run(Trial { replies, ..trial(reader) }).await;
    assert_eq!(*asked.borrow(), ["Say hello.", "Say hello.\nA lamp, or a door?"]);
    let texts: Vec<_> = state.embeddings.iter().map(|read| read.text.as_str()).collect();
    assert_eq!(texts, ["Say hello.", "A lamp, or a door?"], "it is known by its own words");
}

#[tokio::test(start_paused = true)]
async fn a_preview_follows_what_the_reader_said_of_the_task() {
    let (_, records) = run(trial(told())).await;
    let begun = records.iter().position(|record| record.event.kind() == "StepStarted").unwrap();
    let state = State::fold(&records[..=begun]);
    let index = Rc::new(Lexical::of_session(state.tools.values().map(|tool| &*tool.spec)));
    let ahead = Preview::of(&state, || index, Knob::TopK);
    let ahead: Vec<_> = ahead.now.tools.iter().map(|(tool, _)| tool).collect();
    let menu: Vec<_> = state.tasks[0].steps[0].menu.iter().map(|item| &item.tool).collect();
    assert_eq!(ahead, menu);
}

#[tokio::test(start_paused = true)]
async fn the_knob_switches_reading_off() {
    let reader = told();
    let asked = Rc::clone(&reader.asked);
    let mut trial = trial(reader);
    trial.knobs.push((Knob::Retrieve, 0.0));
    let (state, _) = run(trial).await;
    assert!(asked.borrow().is_empty() && state.embeddings.is_empty());
    assert_eq!(by_name(&state), ["alpha", "beta"], "all share a word, and equals come by name");
}

#[tokio::test(start_paused = true)]
async fn words_alone_rank_where_the_reader_fails() {
    let mut trial = trial(told());
    trial.faults = vec!["embedding:error"];
    let (state, _) = run(trial).await;
    assert!(state.embeddings.iter().all(|read| read.error.is_some() && read.ranking.is_none()));
    assert_eq!(by_name(&state), ["alpha", "beta"]);
    assert_eq!(state.tasks_right, 1);
}

#[tokio::test(start_paused = true)]
async fn a_recorded_session_runs_again_without_the_reader() {
    let (first, records) = run(trial(told())).await;
    let mut again = trial(told());
    (again.ranker, again.replies) = (None, vec![]);
    again.beginning = Beginning::Over { of: records.into(), until: None };
    let (second, records) = run(again).await;
    assert_eq!(first_menu(&second), first_menu(&first));
    let from_record = records.iter().filter_map(|record| match &record.event {
        Event::Embedding(EmbeddingEvent::EmbeddingFinished { ranking, .. }) => ranking.clone(),
        _ => None,
    });
    assert!(from_record.count() > 0);
}
