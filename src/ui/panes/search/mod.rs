//! The search tree: a node for each step, below its parent, with the decision there, its result, and the present
//! position of the search.

mod draw;
mod tree;

use ratatui::text::Line;

use self::tree::Order;
use super::earlier_tasks;
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::domain::{State, TaskState, words::counted};
use crate::{action::Action, popups::Subject, view::View, vlist::List};
use crate::{cx::Cx, pane::PaneId, window::Move};

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Search,
    when: |state, view| {
        let nodes = view.task_of(state).is_some_and(|task| !task.search.nodes.is_empty());
        nodes || state.strategy.base.spec().searches
    },
    most: |state, _| {
        let nodes = || state.tasks.iter().map(|task| task.search.nodes.len());
        let all = nodes().filter(|nodes| *nodes > 0).map(|nodes| nodes + 1).sum();
        Some(earlier_tasks::most(nodes().max().unwrap_or(0).max(1), all))
    },
    title,
    draw: draw::draw,
    list,
    go,
    open: |state, view| Opened::subject(subject(state, view)),
    leave: |view| (view.node, view.task, view.evidence) = (None, None, None),
    keys: &[Action::Prompt, Action::Remove],
    ..PLAIN
};

fn title(cx: &Cx<'_>) -> Line<'static> {
    let Some(task) = cx.view.task_of(cx.state).filter(|task| !task.search.nodes.is_empty()) else {
        return Line::default();
    };
    let tree = &task.search;
    let depth = tree.nodes.iter().map(|node| node.depth).max().unwrap_or(0);
    let nodes = counted(tree.nodes.len(), "node");
    let at = match tree.at {
        0 => "the root".to_owned(),
        node => node.to_string(),
    };
    let pruned = tree.pruned();
    let id = task.id;
    Line::from(format!(" · task {id} · {nodes}, {pruned} pruned · depth {depth} · at {at}"))
}

/// The selected node, if it belongs to this task.
fn own(view: &View, task: &TaskState) -> Option<u32> {
    let (of, node) = view.node?;
    (of == task.id && task.search.node(node).is_some()).then_some(node)
}

/// The row of the selected node; without a selection, of the current node of the search.
fn selected(view: &View, task: &TaskState, order: &Order<'_>) -> Option<usize> {
    order.row(own(view, task).unwrap_or(task.search.at))
}

/// The subject of a closer look: the tool call of the selected node, else its model call.
fn subject(state: &State, view: &View) -> Option<Subject> {
    let task = view.task_of(state)?;
    let step = task.step_of(own(view, task).unwrap_or(task.search.at))?;
    step.call.map(Subject::Call).or(step.model_call.map(Subject::Prompt))
}

fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let Some(task) = view.task_of(state) else { return List::none() };
    let order = Order::of(&task.search);
    let place = (order.rows.len(), selected(view, task, &order));
    List::new(
        place,
        move |row| order.rows.get(row).map(|placed| placed.node),
        |node, view| {
            view.choose_node(state, task.id, node.node);
        },
        |node| draw::words(state, task, node),
    )
}

/// Moves along the tree: left to the parent, right to the first child.
fn go(state: &State, view: &mut View, to: Move) -> bool {
    let Some(task) = view.task_of(state) else { return false };
    let order = Order::of(&task.search);
    let row = match (to, selected(view, task, &order)) {
        (Move::Left, Some(at)) => order.rows.get(at).and_then(|placed| placed.parent),
        (Move::Right, Some(at)) => order.child(at),
        _ => return false,
    };
    if let Some(placed) = row.and_then(|row| order.rows.get(row)) {
        view.choose_node(state, task.id, placed.node.node);
    }
    true
}
