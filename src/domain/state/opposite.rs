//! The command that takes an event back.

use crate::breakpoint::BreakpointSpec;
use crate::command::Command;
use crate::edit::Edit;
use crate::event::{
    BreakpointEvent, BudgetEvent, By, ChangeEvent, ConsentEvent, ControlEvent, EditEvent, Event,
    FaultEvent, GraphEvent, PlanEvent, TaskEvent,
};

impl Event {
    /// The command that takes the event back; `None` where undoing has no meaning.
    pub(super) fn opposite(&self) -> Option<Command> {
        match self {
            Event::Fault(event) => fault(event),
            Event::Budget(event) => budget(event),
            Event::Plan(event) => plan(event),
            Event::Graph(event) => graph(event),
            Event::Change(event) => Some(change(event)),
            Event::Control(event) => control(event),
            Event::Task(event) => task(event),
            Event::Breakpoint(event) => breakpoint(event),
            Event::Edit(event) => edit(event),
            Event::Consent(event) => consent(event),
            Event::Session(_)
            | Event::Run(_)
            | Event::ModelCall(_)
            | Event::ToolCall(_)
            | Event::Embedding(_)
            | Event::Program(_)
            | Event::Probe(_)
            | Event::Reader(_)
            | Event::Search(_)
            | Event::Server(_)
            | Event::Unknown { .. } => None,
        }
    }

    /// Whether a command can take the event back.
    pub fn is_undoable(&self) -> bool {
        self.opposite().is_some()
    }
}

fn fault(event: &FaultEvent) -> Option<Command> {
    match event {
        FaultEvent::FaultArmed { fault, .. } => Some(Command::DisarmFault { fault: *fault }),
        // Such a fault could never fire again.
        FaultEvent::FaultDisarmed { by: By::Engine, .. } => None,
        FaultEvent::FaultDisarmed { fault, .. } => Some(Command::RearmFault { fault: *fault }),
        FaultEvent::FaultMatched { .. } | FaultEvent::FaultFired { .. } => None,
    }
}

fn breakpoint(event: &BreakpointEvent) -> Option<Command> {
    let set = |breakpoint, spec: &BreakpointSpec, on| Command::SetBreakpoint {
        breakpoint: Some(breakpoint),
        spec: Box::new(spec.clone()),
        on,
    };
    match event {
        BreakpointEvent::BreakpointSet { temporary: true, .. }
        | BreakpointEvent::BreakpointHit { .. } => None,
        BreakpointEvent::BreakpointSet { breakpoint, was: None, .. } => {
            Some(Command::DeleteBreakpoint { breakpoint: *breakpoint })
        }
        BreakpointEvent::BreakpointSet { breakpoint, was: Some(was), on, .. } => {
            Some(set(*breakpoint, was, *on))
        }
        BreakpointEvent::BreakpointSwitched { breakpoint, on, .. } => {
            Some(Command::SwitchBreakpoint { breakpoint: *breakpoint, on: !on })
        }
        BreakpointEvent::BreakpointDeleted { breakpoint, spec, on, .. } => {
            Some(set(*breakpoint, spec, *on))
        }
    }
}

fn edit(event: &EditEvent) -> Option<Command> {
    match event {
        EditEvent::CallEdited { effect, was, past: true, .. } => match &**was {
            Edit::Result(text) => Some(Command::EditPast { effect: effect.id, text: text.clone() }),
            _ => None,
        },
        EditEvent::CallEdited { effect, was, shown, .. } => {
            Some(Command::EditCall { effect: effect.id, edit: was.clone(), shown: *shown })
        }
        EditEvent::CallAnswered { .. } | EditEvent::CallRepeated { .. } => None,
    }
}

fn consent(event: &ConsentEvent) -> Option<Command> {
    match event {
        ConsentEvent::ApprovalSet { was, .. } => {
            Some(Command::SetApproval { approval: was.clone() })
        }
        // An allowed call may have run already.
        ConsentEvent::ConsentAsked { .. }
        | ConsentEvent::OutcomeUnknown { .. }
        | ConsentEvent::ConsentGiven { .. } => None,
    }
}

fn budget(event: &BudgetEvent) -> Option<Command> {
    match event {
        BudgetEvent::UsesSet { tool, was, .. } => {
            Some(Command::SetUses { tool: tool.clone(), uses: *was })
        }
        BudgetEvent::Judged { .. }
        | BudgetEvent::ToolBlacklisted { .. }
        | BudgetEvent::BudgetPlanned { .. }
        | BudgetEvent::SummaryStarted { .. } => None,
    }
}

fn plan(event: &PlanEvent) -> Option<Command> {
    match event {
        PlanEvent::ToolClassSet { tool, was, .. } => {
            Some(Command::SetClass { tool: tool.clone(), class: was.clone() })
        }
        PlanEvent::ToolsClassified { .. }
        | PlanEvent::PlanWritten { .. }
        | PlanEvent::PlanRefused { .. }
        | PlanEvent::EvidenceFound { .. } => None,
    }
}

fn graph(event: &GraphEvent) -> Option<Command> {
    match event {
        GraphEvent::ScoreSet { tool, was, .. } => {
            Some(Command::SetScore { tool: tool.clone(), score: f64::from(*was) })
        }
        GraphEvent::WeightPinned { from, to, was, .. } => {
            let (from, to) = (from.clone(), to.clone());
            Some(match was {
                Some(weight) => Command::PinWeight { from, to, weight: f64::from(*weight) },
                None => Command::UnpinWeight { from, to },
            })
        }
        GraphEvent::WeightUnpinned { from, to, was, .. } => {
            let (from, to) = (from.clone(), to.clone());
            Some(Command::PinWeight { from, to, weight: f64::from(*was) })
        }
        GraphEvent::GraphLoaded { .. }
        | GraphEvent::Evaluated { .. }
        | GraphEvent::EvaluationRefused { .. }
        | GraphEvent::EdgeExplored { .. } => None,
    }
}

fn change(event: &ChangeEvent) -> Command {
    match event {
        ChangeEvent::KnobTurned { knob, was, .. } => {
            Command::TurnKnob { knob: *knob, value: f64::from(*was) }
        }
        ChangeEvent::RoleBound { role, was, .. } => {
            Command::BindRole { role: *role, model: was.clone() }
        }
        ChangeEvent::StrategyChosen { was, .. } => Command::UseStrategy { strategy: *was },
        ChangeEvent::SeedChosen { was, .. } => Command::UseSeed { seed: *was },
        ChangeEvent::ToolSwitched { tool, on, .. } => {
            Command::SwitchTool { tool: tool.clone(), on: !on }
        }
    }
}

fn task(event: &TaskEvent) -> Option<Command> {
    match event {
        TaskEvent::TasksQueued { by: By::Engine, .. } => None,
        TaskEvent::TasksQueued { first, tasks, .. } => {
            Some(Command::RemoveTasks { first: *first, tasks: tasks.clone() })
        }
        TaskEvent::TasksRemoved { first, tasks, .. } => {
            Some(Command::PutTasks { first: *first, tasks: tasks.clone() })
        }
        TaskEvent::TaskMoved { task, to, .. } => Some(Command::MoveTask { task: *to, to: *task }),
        TaskEvent::TaskSkipped { .. }
        | TaskEvent::TaskStarted { .. }
        | TaskEvent::TryStarted { .. }
        | TaskEvent::StepStarted { .. }
        | TaskEvent::AnswerGraded { .. }
        | TaskEvent::ToolArraySet { .. }
        | TaskEvent::TaskFinished { .. } => None,
    }
}

fn control(event: &ControlEvent) -> Option<Command> {
    match event {
        ControlEvent::LanePaused { lane, .. } => Some(Command::ResumeLane(*lane)),
        ControlEvent::LaneResumed { lane, .. } => Some(Command::PauseLane(*lane)),
        ControlEvent::Resumed { .. }
        | ControlEvent::PauseRequested { .. }
        | ControlEvent::Paused { .. }
        | ControlEvent::Held { .. }
        | ControlEvent::Released { .. } => None,
    }
}
