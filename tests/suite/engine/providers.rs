//! Providers that list, change, die and come back while a session runs.

use std::{cell::RefCell, collections::VecDeque, rc::Rc, time::Duration};

use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
use futures::{FutureExt, StreamExt, future::LocalBoxFuture, stream::LocalBoxStream};
use serde_json::json;
use toolyard::domain::{Command, Event, SessionEvent};
use toolyard::engine::Beginning;
use toolyard::tool::provider::{Provider, ProviderChange};
use toolyard::tool::{Tool, ToolError, ToolErrorKind};

use super::yard::{Echo, Trial, Yard, calls, on_paused_time};

type Answer = Result<Vec<&'static str>, &'static str>;

/// Gives these lists, one after the other; then never one again.
struct Scripted {
    name: &'static str,
    lists: RefCell<VecDeque<Answer>>,
    changes: RefCell<Option<UnboundedReceiver<ProviderChange>>>,
}

fn scripted(
    name: &'static str,
    lists: impl IntoIterator<Item = Answer>,
) -> (Rc<dyn Provider>, UnboundedSender<ProviderChange>) {
    let (say, changes) = mpsc::unbounded();
    let lists = RefCell::new(lists.into_iter().collect());
    (Rc::new(Scripted { name, lists, changes: RefCell::new(Some(changes)) }), say)
}

impl Provider for Scripted {
    fn name(&self) -> &str {
        self.name
    }

    fn tools(&self) -> LocalBoxFuture<'_, Result<Vec<Rc<dyn Tool>>, ToolError>> {
        async {
            let next = self.lists.borrow_mut().pop_front();
            let Some(list) = next else { return std::future::pending().await };
            tokio::time::sleep(Duration::from_millis(1)).await;
            let names = list.map_err(|why| ToolError::new(ToolErrorKind::Unavailable, why))?;
            let tool = |name| -> Rc<dyn Tool> { Rc::new(Echo::new(name, "Test", Rc::default())) };
            Ok(names.into_iter().map(tool).collect())
        }
        .boxed_local()
    }

    fn changes(&self) -> LocalBoxStream<'static, ProviderChange> {
        self.changes.take().unwrap().boxed_local()
    }
}

fn start(providers: Vec<Rc<dyn Provider>>) -> Yard {
    Trial { paused: true, stay: true, names: &["echo"], providers, ..Trial::default() }.start()
}

fn offered(yard: &Yard) -> Vec<String> {
    yard.state.borrow().in_shown().offered_tools().map(|tool| tool.spec.name.to_string()).collect()
}

fn notices(yard: &Yard) -> Vec<String> {
    let records = yard.records.borrow();
    let texts = records.iter().filter_map(|record| match &record.event {
        Event::Session(SessionEvent::Noticed { text }) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

fn died() -> ProviderChange {
    ProviderChange::Died { why: "broken pipe".into() }
}

#[test]
fn a_session_begins_with_what_its_providers_list() {
    on_paused_time(async {
        let (one, _say) = scripted("one", [Ok(vec!["a", "b"])]);
        let (broken, _say) = scripted("broken", [Err("no such program")]);
        let (silent, _say) = scripted("silent", []);
        let (two, _say) = scripted("two", [Ok(vec!["b", "echo", "c"])]);
        let yard = start(vec![one, broken, silent, two]);
        yard.until("it is open", |state| !state.tasks.is_empty()).await;
        assert_eq!(offered(&yard), ["echo", "a", "b", "c"]);
        assert_eq!(
            notices(&yard),
            [
                "broken could not list its tools; nothing changed: no such program",
                "silent could not list its tools; nothing changed: no list arrived within 10 s",
                "two lists tools with names that are taken; they are left out: b, echo",
            ]
        );
        let added = yard.kinds().iter().filter(|kind| *kind == "ToolsAdded").count();
        assert_eq!(added, 1, "{:?}", yard.kinds());
    });
}

#[test]
fn a_change_of_the_list_reaches_the_next_menu() {
    on_paused_time(async {
        let (one, say) = scripted("one", [Ok(vec!["a", "b"]), Ok(vec!["b", "c"]), Err("later")]);
        let trial = Trial {
            paused: true,
            names: &["echo"],
            providers: vec![one],
            replies: vec![Ok(calls(&[("c", json!({"text": "x"}))]))],
            ..Trial::default()
        };
        let yard = trial.start();
        yard.settle().await;
        say.unbounded_send(ProviderChange::Listed).unwrap();
        yard.settle().await;
        assert_eq!(offered(&yard), ["echo", "b", "c"]);
        assert_eq!(notices(&yard), ["one listed its tools again: 1 new, 1 changed, 1 gone"]);
        say.unbounded_send(ProviderChange::Listed).unwrap();
        yard.settle().await;
        assert_eq!(notices(&yard)[1], "one could not list its tools; nothing changed: later");
        yard.wish(Command::Run);
        let state = yard.session.await.unwrap();
        let menu: Vec<_> =
            state.tasks[0].steps[0].menu.iter().map(|item| item.tool.as_str()).collect();
        assert!(menu.contains(&"c") && !menu.contains(&"a"), "{menu:?}");
        assert_eq!(state.tools["c"].succeeded, 1);
    });
}

#[test]
fn a_provider_that_dies_takes_its_tools_along_and_brings_them_back() {
    on_paused_time(async {
        let (one, say) = scripted("one", [Ok(vec!["a", "b"]), Ok(vec!["a"])]);
        let (two, say_two) = scripted("two", [Ok(vec!["c"]), Ok(vec!["a", "c"])]);
        let yard = start(vec![one, two]);
        yard.settle().await;
        say.unbounded_send(died()).unwrap();
        yard.settle().await;
        assert_eq!(offered(&yard), ["echo", "c"]);
        say_two.unbounded_send(ProviderChange::Back).unwrap();
        yard.settle().await;
        assert_eq!(offered(&yard), ["echo", "c"], "a name stays with the provider that died");
        say.unbounded_send(ProviderChange::Back).unwrap();
        yard.settle().await;
        assert_eq!(offered(&yard), ["echo", "a", "c"]);
        assert_eq!(
            notices(&yard),
            [
                "one died: broken pipe; 2 tools unavailable until it is back",
                "two lists tools with names that are taken; they are left out: a",
                "two is back: 0 new, 1 changed, 0 gone",
                "one is back: 1 new, 0 changed, 0 gone",
            ]
        );
    });
}

#[test]
fn a_call_in_flight_outlives_its_provider() {
    on_paused_time(async {
        let (one, say) = scripted("one", [Ok(vec!["a"])]);
        let slow = calls(&[("a", json!({"text": "x", "ms": 50}))]);
        let again = calls(&[("a", json!({"text": "x"}))]);
        let replies = vec![Ok(slow), Ok(again)];
        let yard = Trial { providers: vec![one], replies, ..Trial::default() }.start();
        yard.until("it runs", |state| state.tool_calls.iter().any(|call| call.started.is_some()))
            .await;
        say.unbounded_send(died()).unwrap();
        let state = yard.session.await.unwrap();
        assert_eq!((state.tools["a"].succeeded, state.tools["a"].refused), (1, 1));
    });
}

#[test]
fn the_user_has_every_provider_list_again() {
    on_paused_time(async {
        let (one, _one) = scripted("one", [Ok(vec!["a"]), Err("it is down")]);
        let (two, _two) = scripted("two", [Ok(vec!["b"]), Ok(vec!["b", "c"])]);
        let yard = start(vec![one, two]);
        yard.settle().await;
        yard.wish(Command::ReloadTools);
        yard.settle().await;
        assert_eq!(offered(&yard), ["echo", "a", "b", "c"]);
        let told = notices(&yard);
        assert!(told.contains(&"one could not list its tools; nothing changed: it is down".into()));
        assert!(told.contains(&"two listed its tools again: 1 new, 1 changed, 0 gone".into()));
        assert_eq!(yard.refusals(), Vec::<String>::new());
    });
}

#[test]
fn a_session_that_goes_on_says_how_the_tools_differ_now() {
    on_paused_time(async {
        let (one, _say) = scripted("one", [Ok(vec!["a", "b"])]);
        let yard = start(vec![one]);
        yard.until("it is open", |state| !state.tasks.is_empty()).await;
        let past: Vec<_> = yard.records.borrow().iter().map(|record| (**record).clone()).collect();
        let whole = past.len();
        let (one, _say) = scripted("one", [Ok(vec!["b", "c"])]);
        let providers = vec![one];
        let trial = Trial {
            paused: true,
            stay: true,
            names: &["echo"],
            providers,
            beginning: Beginning::after(past),
            ..Trial::default()
        };
        let yard = trial.start();
        yard.settle().await;
        assert_eq!(yard.kinds()[whole..whole + 2], ["ToolsRemoved", "ToolsAdded"]);
        assert_eq!(offered(&yard), ["echo", "b", "c"]);
    });
}
