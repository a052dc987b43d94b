//! The queue of tasks, as a person changes it. Tasks are worked on in the order of their numbers, so a task that
//! moves gets another number.

use std::rc::Rc;

use tokio::sync::Notify;

use super::Session;
use crate::domain::probe::Probe;
use crate::domain::{By, Event, RunId, Task, TaskEvent, TaskId, ToolName, state::next_number};
use crate::effect::PendingEffect;

/// The number of tasks that one event queues.
const AT_ONCE: usize = 1000;

impl Session {
    /// Queues a call that a person made; it runs as soon as the engine is free.
    pub fn queue_by_hand(&mut self, requested: PendingEffect) {
        self.queue.by_hand.push(requested);
        self.queue.called.notify_one();
    }

    /// Notified when a person has made a call.
    pub fn called_by_hand(&self) -> Rc<Notify> {
        Rc::clone(&self.queue.called)
    }

    /// The calls by hand that have not begun.
    pub fn take_by_hand(&mut self) -> Vec<PendingEffect> {
        std::mem::take(&mut self.queue.by_hand)
    }

    /// Queues the next part of the session's own tasks, if there are more.
    pub fn queue_part(&mut self) {
        let mut tasks: Vec<Task> =
            self.queue.tasks.part(self.queue.queued, AT_ONCE).cloned().collect();
        self.deal(&mut tasks);
        if !tasks.is_empty() {
            let (first, by) = (self.next_task(), By::Engine);
            self.emit(TaskEvent::TasksQueued { first, tasks, by });
        }
    }

    /// Queues the session's own tasks until this run has one to do, or there are no more.
    pub fn queue_parts_for(&mut self, run: RunId) {
        let mut before = usize::MAX;
        while self.state.next_task_of(run).is_none() && self.queue.queued != before {
            before = self.queue.queued;
            self.queue_part();
        }
    }

    /// The next task of a run, moved to the front: tasks start in the order of their numbers. Without one, the number at
    /// the front.
    pub fn take_next(&mut self, run: RunId) -> TaskId {
        let front = self.front();
        let next = self.state.next_task_of(run).map_or(front, |task| task.id);
        if next != front {
            self.emit(TaskEvent::TaskMoved { task: next, to: front, by: By::Engine });
        }
        front
    }

    /// Gives tasks to the runs in turn.
    fn deal(&self, tasks: &mut [Task]) {
        let runs: Vec<RunId> = self.state.all_runs().collect();
        let in_turn = runs.iter().cycle().skip(self.queue.queued % runs.len());
        tasks.iter_mut().zip(in_turn).for_each(|(task, run)| task.run = *run);
    }

    /// The run with the fewest tasks to do; of several, the first.
    fn idlest_run(&self) -> RunId {
        let from = self.state.tasks_started();
        let waiting = |run: &RunId| {
            let own = self.state.tasks.from(from).filter(|task| task.task.run == *run).count();
            own + usize::from(self.state.at_work.of(*run).is_some())
        };
        self.state.all_runs().min_by_key(waiting).unwrap_or(RunId::FIRST)
    }

    /// Queues a task that a person wrote, at this place.
    pub fn queue_text(&self, text: &str, at: TaskId, by: By) -> Result<Event, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("the task is empty".to_owned());
        }
        // A task whose text is known keeps its gold answer and chain.
        let queued = self.state.tasks.iter().map(|task| &task.task);
        let known = queued.chain(self.queue.tasks.distinct()).find(|task| task.text == text);
        let mut task = known.map_or_else(|| Task::from_text(text), Task::clone);
        task.run = self.idlest_run();
        self.put(at, vec![task], by)
    }

    /// Queues a task that probes these tools, before all others; without any, it probes all that are not learned yet.
    pub fn queue_probe(&self, tools: Vec<ToolName>, by: By) -> Result<Event, String> {
        if let Some(tool) = tools.iter().find(|tool| !self.state.tools.contains_key(*tool)) {
            return Err(format!("there is no tool {tool}"));
        }
        let probe = Probe { tools };
        let open = self.state.tasks.iter().filter(|task| task.outcome().is_none());
        if open.into_iter().any(|task| task.task.probe.as_ref() == Some(&probe)) {
            return Err("this is already being probed, or queued for it".to_owned());
        }
        self.put(self.front(), vec![Task::of_probe(probe)], by)
    }

    /// Queues again the tasks with which the session began.
    pub fn queue_again(&self, by: By) -> Result<Event, String> {
        let tasks = self.queue.tasks.distinct().to_vec();
        if tasks.is_empty() {
            return Err("the session began without a task".to_owned());
        }
        self.put(self.next_task(), tasks, by)
    }

    /// Puts tasks into the queue from this number on.
    pub fn put(&self, first: TaskId, tasks: Vec<Task>, by: By) -> Result<Event, String> {
        if first < self.front() || first > self.next_task() {
            return Err(format!("the queue no longer has a place for task {first}"));
        }
        Ok(TaskEvent::TasksQueued { first, tasks, by }.into())
    }

    /// Takes tasks off the queue, if they still wait from this number on.
    pub fn unqueue(&self, first: TaskId, tasks: Vec<Task>, by: By) -> Result<Event, String> {
        self.queued(first)?;
        let ids = (first.0..).map(TaskId);
        let mut pairs = ids.zip(&tasks);
        if !pairs.all(|(id, task)| self.state.task(id).is_some_and(|known| known.task == *task)) {
            return Err("the queue has changed in the meantime".to_owned());
        }
        Ok(TaskEvent::TasksRemoved { first, tasks, by }.into())
    }

    /// Moves a task to the place of another one.
    pub fn move_task(&self, task: TaskId, to: TaskId, by: By) -> Result<Event, String> {
        self.queued(task)?;
        self.queued(to)?;
        if task == to {
            return Err(format!("task {task} is there already"));
        }
        Ok(TaskEvent::TaskMoved { task, to, by }.into())
    }

    /// Moves a task by this number of places, at most to an end of the queue.
    pub fn move_task_by(&self, task: TaskId, places: i32, by: By) -> Result<Event, String> {
        self.queued(task)?;
        let last = self.next_task().0.saturating_sub(1);
        let to = task.0.saturating_add_signed(places).clamp(self.front().0, last);
        if to == task.0 {
            let end = if places < 0 { "first" } else { "last" };
            return Err(format!("task {task} is already the {end} waiting task"));
        }
        self.move_task(task, TaskId(to), by)
    }

    /// Moves a task to the front.
    pub fn run_next(&self, task: TaskId, by: By) -> Result<Event, String> {
        self.move_task(task, self.front(), by)
    }

    /// Asks a further question after the answer of a task.
    pub fn follow_up(&self, task: TaskId, text: &str, by: By) -> Result<Event, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("the question is empty".to_owned());
        }
        let known = self.state.task(task).ok_or_else(|| format!("there is no task {task}"))?;
        let answer = known.answer.as_ref().ok_or_else(|| format!("task {task} has no answer"))?;
        let further = known.task.followed_by(text, answer);
        self.put(self.front(), vec![further], by)
    }

    /// Ends the current task.
    pub fn skip_task(&self, task: TaskId, by: By) -> Result<Event, String> {
        if !self.state.at_work.contains(task) {
            return Err(format!("task {task} is not running"));
        }
        Ok(TaskEvent::TaskSkipped { task, by }.into())
    }

    /// The number of the next task.
    pub fn front(&self) -> TaskId {
        TaskId(next_number(self.state.tasks_started()))
    }

    fn queued(&self, task: TaskId) -> Result<(), String> {
        let known = self.state.task(task).ok_or_else(|| format!("there is no task {task}"))?;
        if !self.state.is_queued(task) {
            let how = if known.outcome().is_some() { "ended" } else { "started" };
            return Err(format!("task {task} has {how} already"));
        }
        Ok(())
    }
}
