//! The variables of the held program: those that changed since its last stop first, then by use. With them, the
//! expressions that the user evaluated there.

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use super::program_words::{Variable, shown, variables};
use super::row::{Row, wrapped};
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::action::Action;
use crate::domain::program::{ExtraOutcome, LineStop, Set};
use crate::domain::state::ProgramState;
use crate::domain::{State, words::counted};
use crate::hits::{Hits, Target};
use crate::popups::{AskProgram, Subject};
use crate::program_moment;
use crate::symbols::{EDITED, LEADS, RECORDED, ROSE};
use crate::text::clean;
use crate::vlist::{self, List};
use crate::{cx::Cx, pane::PaneId, view::View};

/// Cells of a name.
const NAME: usize = 14;
/// Cells of a line's number at the end.
const LINE: usize = 9;

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Variables,
    when: super::program::shows,
    most: |state, _| {
        let programs = state.tasks.iter().flat_map(|task| &task.programs);
        Some(programs.map(|program| program.values.len()).max().unwrap_or(0).max(1))
    },
    title,
    draw,
    list,
    filters: |_| Some("variable"),
    open: |state, view| Opened::subject(subject(state, view)),
    why_not_adjust: nothing_to_set,
    edit: |world, view| match selected(world.live, view) {
        Some((_, Variable::Set(set))) => view.open(AskProgram::set(&set.name, Some(&set.value))),
        Some((_, Variable::Told(told))) => view.open(AskProgram::ask(&told.expression, false)),
        None => Vec::new(),
    },
    go: super::program::walk,
    leave: |view| {
        if !view.looked.leave() {
            view.variable = None;
        }
    },
    keys: &[Action::Evaluate, Action::Why, Action::GoToMoment],
    ..PLAIN
};

fn nothing_to_set(state: &State, view: &View) -> Option<&'static str> {
    match () {
        () if !state.is_held_at_line() => {
            Some("only a held program's variables can be set: pause it, or step to a line")
        }
        () if !program_moment::is_present(state, view) => {
            Some("this moment is past: press <key:run-again> in the program pane to return to it")
        }
        () if selected(state, view).is_none() => Some("no variables set yet"),
        () => None,
    }
}

/// The chosen variable, else the first, and its place.
fn selected<'a>(state: &'a State, view: &'a View) -> Option<(usize, Variable<'a>)> {
    let (_, program) = view.program_of(state)?;
    let all = variables(program);
    let chosen = view.variable.as_deref();
    let at = chosen.and_then(|name| all.iter().position(|it| it.name() == name)).unwrap_or(0);
    all.get(at).map(|it| (at, *it))
}

/// The name of the chosen variable; `None`: an expression is chosen, or nothing.
pub fn selected_name(program: &ProgramState, view: &View) -> Option<String> {
    let all = variables(program);
    let chosen = view.variable.as_deref();
    let found = all.iter().find(|it| Some(it.name()) == chosen).or(all.first())?;
    matches!(found, Variable::Set(_)).then(|| found.name().to_owned())
}

/// The line that gave the chosen variable its value.
pub fn selected_line(program: &ProgramState, view: &View) -> Option<u32> {
    let all = variables(program);
    let chosen = view.variable.as_deref();
    match all.iter().find(|it| Some(it.name()) == chosen).or(all.first())? {
        Variable::Set(set) => Some(set.line),
        Variable::Told(_) => None,
    }
}

fn subject(state: &State, view: &View) -> Option<Subject> {
    let (task, program) = view.program_of(state)?;
    let (_, variable) = selected(state, view)?;
    Some(Subject::Variable(task.id, program.number, variable.name().to_owned()))
}

fn title(cx: &Cx<'_>) -> Line<'static> {
    let Some((task, program)) = cx.view.program_of(cx.state) else { return Line::default() };
    let count = variables(program).len();
    let times = |hit| if hit > 1 { format!(", time {hit}") } else { String::new() };
    let at = |at: &LineStop| format!(" · line {}{}", at.line, times(at.hit));
    let at = program.held.as_deref().map_or_else(String::new, at);
    let looked = cx.view.looked.seen(task.id, program.number);
    let at = match looked {
        Some(seen) => format!(" · {RECORDED} {}{at}", seen.place()),
        None => at,
    };
    let count = if count == 0 { String::new() } else { format!(" · {}", counted(count, "value")) };
    Line::from(format!("{at}{count}"))
}

fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let Some((_, program)) = view.program_of(state) else { return List::none() };
    let all = variables(program);
    let selected = selected(state, view).map(|(at, _)| at);
    let texts: Vec<String> = all.iter().map(text).collect();
    let names: Vec<String> = all.iter().map(|it| it.name().to_owned()).collect();
    List::new(
        (names.len(), selected),
        move |row| names.get(row).cloned().map(|name| (row, name)),
        |(_, name), view| view.variable = Some(name),
        move |(row, _)| texts.get(row).cloned().unwrap_or_default(),
    )
}

fn text(variable: &Variable<'_>) -> String {
    match variable {
        Variable::Set(set) => format!("{} {}", set.name, set.value),
        Variable::Told(told) => match &told.value {
            Ok(value) => format!("{} {value}", told.expression),
            Err(why) => format!("{} {why}", told.expression),
        },
    }
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let program = cx.view.program_of(cx.state).map(|(_, program)| program);
    let all = program.map(variables).unwrap_or_default();
    if all.is_empty() {
        let words = "no values yet: step through the program (n), stop it at a line (b), or look at \
                     an earlier moment (left)";
        return wrapped(area, words, cx.theme.dim, buf);
    }
    let held = program.and_then(|program| program.held.as_deref());
    let changed = |set: &Set| held.is_some_and(|at| at.set.iter().any(|it| it.name == set.name));
    let rows = list(cx.state, cx.view).place;
    vlist::draw(cx, SPEC.id, (area, buf, hits), rows, |i, row| {
        let variable = all.get(i)?;
        match variable {
            Variable::Set(set) => draw_one(cx, set, changed(set), row),
            Variable::Told(told) => draw_told(cx, told, row),
        }
        Some(Target::Variable(variable.name().to_owned()))
    });
}

fn draw_one(cx: &Cx<'_>, set: &Set, is_new: bool, row: &mut Row<'_>) {
    let theme = cx.theme;
    let style = if is_new { theme.accent } else { theme.text };
    row.gap(1).cell(if is_new { ROSE } else { "" }, 2, theme.accent);
    row.cell(&clean(&set.name), NAME.min(row.left() / 3), theme.text).gap(1);
    let room = row.left().saturating_sub(LINE);
    row.cell(&shown(&set.value, room), room, style).gap(1);
    row.put(&format!("line {}", set.line), theme.dim);
}

fn draw_told(cx: &Cx<'_>, told: &ExtraOutcome, row: &mut Row<'_>) {
    let theme = cx.theme;
    row.gap(1).cell(if told.sets.is_some() { EDITED } else { LEADS }, 2, theme.accent);
    row.cell(&clean(&told.expression), row.left() / 2, theme.text).gap(1);
    match &told.value {
        Ok(value) => row.put(&shown(value, row.left()), theme.accent),
        Err(why) => row.put(&clean(why), theme.warn),
    };
}
