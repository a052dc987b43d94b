//! The two searches with a scripted model: where they go, what they ask, and what they tell of it.

use serde_json::{Value, json};
use toolyard::domain::{
    Event, Message, ModelError, ModelErrorKind, NodeEnd, Outcome, Reply, Request, Role,
    SearchEvent, State,
};

use super::yard::{Trial, calls, on_paused_time, say};

/// What a judge says each time.
type Vote = fn() -> Result<Reply, ModelError>;

/// A node of a tree: its number, its parent's, and what became of it.
type Node = (u32, u32, Option<NodeEnd>);

const OPEN: Option<NodeEnd> = None;
const ANSWERED: Option<NodeEnd> = Some(NodeEnd::Answered);
const GAVE_UP: Option<NodeEnd> = Some(NodeEnd::GaveUp);
const EXHAUSTED: Option<NodeEnd> = Some(NodeEnd::Exhausted);
const TOO_DEEP: Option<NodeEnd> = Some(NodeEnd::TooDeep);
const FAILED: Option<NodeEnd> = Some(NodeEnd::Failed);

fn echo(text: &str) -> Reply {
    calls(&[("echo", json!({ "text": text }))])
}

fn answer() -> Reply {
    calls(&[("Finish", json!({"answer": "done"}))])
}

fn give_up() -> Reply {
    calls(&[("Finish", json!({"answer": "", "gave_up": true}))])
}

fn better(rival: u8) -> Reply {
    say(&format!("I prefer {{\"better\": {rival}}}"))
}

/// Runs one task on these replies, and checks what must hold of every search.
async fn search(strategy: &'static str, replies: Vec<Result<Reply, ModelError>>) -> State {
    let yard = Trial { replies, strategy, ..Trial::default() }.start();
    let records = std::rc::Rc::clone(&yard.records);
    let state = yard.session.await.unwrap();
    let records = records.borrow();
    assert_eq!(State::fold(records.iter().map(|record| &**record)), state);
    let mut closed: Vec<_> = records
        .iter()
        .filter_map(|record| match &record.event {
            Event::Search(SearchEvent::NodeClosed { node, .. }) => Some(*node),
            _ => None,
        })
        .collect();
    let all = closed.len();
    closed.sort_unstable();
    closed.dedup();
    assert_eq!(closed.len(), all, "a node was closed twice");
    let task = &state.tasks[0];
    let steps: Vec<_> = task.steps.iter().map(|step| step.step).collect();
    let nodes: Vec<_> = task.search.nodes.iter().map(|node| node.node).collect();
    assert_eq!(nodes, steps[steps.len() - nodes.len()..]);
    for call in &state.tool_calls {
        assert!(steps.contains(&call.step));
    }
    state
}

fn tree(state: &State) -> Vec<Node> {
    let nodes = &state.tasks[0].search.nodes;
    nodes.iter().map(|node| (node.node, node.parent, node.end)).collect()
}

fn request(state: &State, ask: usize) -> &Request {
    &state.model_calls[ask - 1].request
}

/// The results that a request shows, in order.
fn shown(request: &Request) -> Vec<&str> {
    let results = request.messages.iter().filter_map(|message| match message {
        Message::Tool { text, .. } => Some(text.as_str()),
        Message::System { .. } | Message::User { .. } | Message::Assistant { .. } => None,
    });
    results.collect()
}

fn last(request: &Request) -> &str {
    request.messages.last().unwrap().text()
}

#[test]
fn dfsdt_goes_down_and_the_first_answer_counts() {
    on_paused_time(async {
        let state = search("dfsdt", vec![Ok(echo("a")), Ok(echo("b")), Ok(answer())]).await;
        assert_eq!(tree(&state), [(1, 0, OPEN), (2, 1, OPEN), (3, 2, ANSWERED)]);
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Answered));
        assert_eq!(shown(request(&state, 3)), ["a", "b"]);
        assert_eq!(state.model_calls.len(), 3);
        let from: Vec<_> = state.tasks[0].steps.iter().map(|step| step.from.as_str()).collect();
        assert_eq!(from, ["start", "echo", "echo"]);
    });
}

#[test]
fn dfsdt_backs_out_of_a_point_that_is_given_up_and_does_something_else_before_it() {
    on_paused_time(async {
        let replies =
            vec![Ok(echo("a")), Ok(echo("b")), Ok(give_up()), Ok(echo("c")), Ok(answer())];
        let state = search("dfsdt", replies).await;
        let nodes =
            [(1, 0, OPEN), (2, 1, EXHAUSTED), (3, 2, GAVE_UP), (4, 1, OPEN), (5, 4, ANSWERED)];
        assert_eq!(tree(&state), nodes);
        // The abandoned branch is forgotten, but for what not to do again.
        let again = request(&state, 4);
        assert_eq!(shown(again), ["a"]);
        let note =
            "Chosen at this point before:\n{\"tool\":\"echo\",\"arguments\":{\"text\":\"b\"}}\n";
        assert!(last(again).starts_with(note), "{}", last(again));
        // And what was found there is not told below either.
        assert_eq!(shown(request(&state, 5)), ["a", "c"]);
        assert_eq!(last(request(&state, 5)), "c");
    });
}

#[test]
fn dfsdt_ends_when_the_root_is_given_up_or_has_no_other_way() {
    on_paused_time(async {
        let state = search("dfsdt", vec![Ok(give_up())]).await;
        assert_eq!(tree(&state), [(1, 0, GAVE_UP)]);
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::GaveUp));
        let replies = vec![Ok(echo("a")), Ok(give_up()), Ok(echo("b")), Ok(give_up())];
        let state = search("dfsdt", replies).await;
        let nodes = [(1, 0, EXHAUSTED), (2, 1, GAVE_UP), (3, 0, EXHAUSTED), (4, 3, GAVE_UP)];
        assert_eq!(tree(&state), nodes);
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::GaveUp));
        assert_eq!(state.tasks[0].search.pruned(), 4);
    });
}

#[test]
fn dfsdt_asks_again_where_nothing_was_said() {
    on_paused_time(async {
        let state = search("dfsdt", vec![Ok(say(" ")), Ok(echo("a")), Ok(answer())]).await;
        assert_eq!(tree(&state), [(1, 0, FAILED), (2, 0, OPEN), (3, 2, ANSWERED)]);
        assert!(last(request(&state, 2)).contains("neither a call nor an answer"));
    });
}

#[test]
fn all_calls_of_a_decision_are_made_and_told() {
    on_paused_time(async {
        let two = calls(&[("echo", json!({"text": "a"})), ("echo", json!({"text": "b"}))]);
        let replies = vec![Ok(two), Ok(give_up()), Ok(answer())];
        let state = search("dfsdt", replies).await;
        assert_eq!(state.tool_calls.iter().map(|call| call.step).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(shown(request(&state, 2)), ["a", "b"]);
        let note = last(request(&state, 3));
        assert!(note.contains("{\"text\":\"a\"}") && note.contains("{\"text\":\"b\"}"), "{note}");
    });
}

#[test]
fn what_was_chosen_is_told_in_bounds() {
    on_paused_time(async {
        let long = "x".repeat(100_000);
        let state = search("dfsdt", vec![Ok(echo(&long)), Ok(give_up()), Ok(answer())]).await;
        let note = last(request(&state, 3));
        assert!(note.contains("xxx") && note.len() < 1000, "{}", note.len());
    });
}

#[test]
fn dfsdt_goes_twelve_deep_and_asks_two_hundred_times() {
    on_paused_time(async {
        let endless = |n: u32| Ok(echo(&n.to_string()));
        let state = search("dfsdt", (0..300).map(endless).collect()).await;
        let task = &state.tasks[0];
        assert_eq!(task.outcome(), Some(Outcome::OutOfSteps));
        assert_eq!(state.model_calls.len(), 200);
        assert_eq!(task.search.nodes.iter().map(|node| node.depth).max(), Some(12));
        let tree = tree(&state);
        assert_eq!(
            tree[10..14],
            [(11, 10, EXHAUSTED), (12, 11, TOO_DEEP), (13, 11, TOO_DEEP), (14, 10, EXHAUSTED)]
        );
        for node in 0..=200 {
            let children = task.search.nodes.iter().filter(|child| child.parent == node);
            assert!(children.count() <= 2);
        }
    });
}

#[test]
fn a_model_that_fails_ends_the_search() {
    on_paused_time(async {
        let error = || Err(ModelError::new(ModelErrorKind::Auth, "wrong key"));
        for strategy in ["dfsdt", "tot-dfs"] {
            let state = search(strategy, vec![Ok(echo("a")), error()]).await;
            assert_eq!(state.tasks[0].outcome(), Some(Outcome::Failed));
            assert_eq!(tree(&state).last().unwrap().2, FAILED);
        }
    });
}

#[test]
fn a_call_that_the_budget_does_not_pay_for_ends_the_search_without_a_failure() {
    on_paused_time(async {
        let over = || Err(ModelError::new(ModelErrorKind::OverBudget, "too dear"));
        for strategy in ["dfsdt", "tot-dfs"] {
            let state = search(strategy, vec![Ok(echo("a")), over()]).await;
            assert_eq!(state.tasks[0].outcome(), Some(Outcome::OutOfBudget));
        }
    });
}

#[test]
fn nodes_count_on_when_a_task_is_tried_again() {
    on_paused_time(async {
        let replies = vec![Ok(echo("a")), Ok(give_up()), Ok(give_up()), Ok(say("Try b."))];
        let state = search("dfsdt+reflexion", replies).await;
        let task = &state.tasks[0];
        assert_eq!((task.tries, task.correct), (2, Some(true)));
        assert_eq!(task.steps.iter().map(|step| step.step).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!(tree(&state), [(4, 0, ANSWERED)]);
        // The reflector was told what was done on every way.
        let reflector = state.model_calls.iter().find(|ask| ask.role == Role::Reflector).unwrap();
        assert!(last(&reflector.request).contains("\"text\":\"a\""));
    });
}

#[test]
fn tot_dfs_makes_the_children_first_and_follows_the_one_with_most_votes() {
    on_paused_time(async {
        let replies = vec![
            Ok(echo("a")),
            Ok(echo("b")),
            Ok(better(2)),
            Ok(better(1)),
            Ok(answer()),
            Ok(echo("c")),
            Ok(better(1)),
            Ok(better(2)),
        ];
        let state = search("tot-dfs", replies).await;
        assert_eq!(tree(&state), [(1, 0, OPEN), (2, 0, OPEN), (3, 2, ANSWERED), (4, 2, OPEN)]);
        let votes: Vec<_> = state.tasks[0].search.nodes.iter().map(|node| node.votes).collect();
        assert_eq!(votes, [Some(0), Some(2), Some(2), Some(0)]);
        // Siblings differ, and each pair is voted on in both orders, by the judge.
        assert!(last(request(&state, 2)).contains("{\"text\":\"a\"}"));
        let order = |ask: usize| {
            let text = last(request(&state, ask));
            let place = |word: &str| text.find(word).unwrap();
            (place("Decision 1:") < place("Decision 2:"), place("\"a\"") < place("\"b\""))
        };
        assert_eq!((order(3), order(4)), ((true, true), (true, false)));
        let roles: Vec<_> = state.model_calls.iter().map(|ask| ask.role).collect();
        use Role::{Actor, Judge};
        assert_eq!(roles, [Actor, Actor, Judge, Judge, Actor, Actor, Judge, Judge]);
        // The way that was not followed is forgotten.
        assert_eq!(shown(request(&state, 5)), ["b"]);
        assert!(last(request(&state, 7)).contains("What was done:\n{\"step\":1"));
    });
}

#[test]
fn a_judge_that_favours_the_first_or_cannot_be_understood_favours_nobody() {
    on_paused_time(async {
        let votes = |vote: Vote| {
            vec![Ok(echo("a")), Ok(echo("b")), vote(), vote(), Ok(answer()), Ok(give_up())]
        };
        let cases: [(Vote, u32); 4] = [
            (|| Ok(better(1)), 1),
            (|| Ok(better(2)), 1),
            (|| Ok(say("both are fine")), 0),
            (|| Err(ModelError::new(ModelErrorKind::Endpoint, "down")), 0),
        ];
        for (vote, each) in cases {
            let state = search("tot-dfs", votes(vote)).await;
            let nodes = [(1, 0, OPEN), (2, 0, OPEN), (3, 1, ANSWERED), (4, 1, GAVE_UP)];
            assert_eq!(tree(&state), nodes);
            let votes: Vec<_> = state.tasks[0].search.nodes.iter().map(|node| node.votes).collect();
            assert_eq!(votes, [Some(each), Some(each), None, None]);
        }
    });
}

#[test]
fn tot_dfs_comes_back_to_what_lost_a_vote() {
    on_paused_time(async {
        let replies = vec![
            Ok(answer()),
            Ok(echo("a")),
            Ok(better(2)),
            Ok(better(1)),
            Ok(give_up()),
            Ok(say("")),
        ];
        let state = search("tot-dfs", replies).await;
        let nodes = [(1, 0, ANSWERED), (2, 0, EXHAUSTED), (3, 2, GAVE_UP), (4, 2, FAILED)];
        assert_eq!(tree(&state), nodes);
        assert_eq!(state.tasks[0].correct, Some(true));
        assert_eq!(state.tasks[0].search.at, 1);
    });
}

#[test]
fn tot_dfs_asks_thirty_times_votes_included_and_keeps_an_answer_that_waits() {
    on_paused_time(async {
        let level = || [Ok(echo("a")), Ok(echo("b")), Ok(better(1)), Ok(better(2))];
        let state = search("tot-dfs", (0..10).flat_map(|_| level()).collect()).await;
        assert_eq!(state.model_calls.len(), 30);
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::OutOfSteps));
        let lost = [Ok(answer()), Ok(echo("b")), Ok(better(2)), Ok(better(1))];
        let replies = lost.into_iter().chain((0..10).flat_map(|_| level()));
        let state = search("tot-dfs", replies.collect()).await;
        assert_eq!(state.model_calls.len(), 30);
        assert_eq!(state.tasks[0].correct, Some(true));
        assert_eq!(tree(&state)[0], (1, 0, ANSWERED));
    });
}

#[test]
fn tot_dfs_goes_eight_deep() {
    on_paused_time(async {
        let level = |n: u32| [Ok(echo(&n.to_string())), Ok(give_up())];
        let state = search("tot-dfs", (0..8).flat_map(level).collect()).await;
        let task = &state.tasks[0];
        assert_eq!(task.outcome(), Some(Outcome::OutOfSteps));
        assert_eq!((task.steps.len(), task.search.pruned()), (16, 16));
        assert_eq!(task.search.nodes.iter().map(|node| node.depth).max(), Some(8));
        assert_eq!(tree(&state)[14], (15, 13, TOO_DEEP));
    });
}

#[test]
fn searches_have_their_own_limits_and_not_those_of_steps() {
    on_paused_time(async {
        let knobs = vec![(toolyard::domain::knob::Knob::MaxSteps, 1.0)];
        let replies = vec![Ok(echo("a")), Ok(echo("b")), Ok(answer())];
        let yard = Trial { replies, knobs, strategy: "dfsdt", ..Trial::default() }.start();
        let state: State = yard.session.await.unwrap();
        assert_eq!(state.tasks[0].correct, Some(true));
        let arguments: Vec<Value> =
            state.tool_calls.iter().map(|call| call.arguments.clone()).collect();
        assert_eq!(arguments, [json!({"text": "a"}), json!({"text": "b"})]);
    });
}

#[test]
fn a_plan_that_is_used_up_ends_a_search_with_what_was_found_on_any_way() {
    on_paused_time(async {
        let hang = calls(&[("hang", json!({"text": "x"}))]);
        let replies = vec![Ok(echo("a")), Ok(give_up()), Ok(hang), Ok(answer())];
        let knobs = vec![
            (toolyard::domain::knob::Knob::Budget, 100_000.0),
            // One that lacks a tool is none that has tried all: BTP as it was published.
            (toolyard::domain::knob::Knob::Widen, 0.0),
            (toolyard::domain::knob::Knob::Spread, 0.0),
        ];
        let yard = Trial { replies, knobs, strategy: "dfsdt+btp", ..Trial::default() }.start();
        let state: State = yard.session.await.unwrap();
        assert_eq!(state.tasks[0].correct, Some(true), "{:#?}", yard.records.borrow());
        assert!(state.tasks[0].budget.closing);
        // A use that was made on a way that was left is gone, and its result is not.
        assert_eq!(state.tool_calls.len(), 2);
        assert_eq!(shown(request(&state, state.model_calls.len())), ["a"]);
    });
}
