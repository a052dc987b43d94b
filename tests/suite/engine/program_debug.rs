//! A person at a program that is held: lines, frames and variables to run to, values to ask for and to set, and programs
//! to go on with.

use std::rc::Rc;

use toolyard::domain::breakpoint::{BreakpointPlace, BreakpointSpec, Trouble};
use toolyard::domain::program::{Back, ProgramQuestion};
use toolyard::domain::{
    Boundary, BreakpointEvent, Command, EffectClass, Event, Knob, Lane, Mode, ProgramSource,
    ProgramVerdict, Record, State, TaskId,
};
use toolyard::engine::Beginning;

use super::programs::{FILM, trial};
use super::yard::{Trial, Yard, on_paused_time};

/// What a test does with a program that is held.
struct Desk {
    yard: Yard,
}

impl Desk {
    /// A program that is paused at its first call, and stepped past it.
    async fn held_at(text: &str, place: BreakpointPlace) -> Self {
        let yard = Trial { stay: true, paused: true, ..trial(&[text]) }.start();
        let desk = Self { yard };
        desk.to(place).await;
        desk
    }

    /// Runs to a place.
    async fn to(&self, place: BreakpointPlace) {
        self.wish(Command::RunTo { spec: Box::new(BreakpointSpec::at(place)) }).await;
    }

    /// Sends a command, and waits until the session is paused again or the task is done.
    async fn wish(&self, command: Command) {
        let before = self.yard.state.borrow().n;
        self.yard.wish(command);
        let is_over = |state: &State| {
            state.n > before + 1
                && (state.control.mode == Mode::Paused && state.control.is_held(Lane::FIRST)
                    || state.tasks_done == 1)
        };
        self.yard.until("it stops again", is_over).await;
    }

    async fn ask(&self, expression: &str, sets: Option<&str>) {
        let asked =
            ProgramQuestion { expression: expression.to_owned(), sets: sets.map(str::to_owned) };
        self.wish(Command::AskProgram { task: TaskId(1), asked }).await;
    }

    /// Where it is held: program, line, hit and depth.
    fn at(&self) -> (u32, u32, u32, usize) {
        let state = self.yard.state.borrow();
        let program = state.tasks[0].programs.last().unwrap();
        let held = program.held.as_ref().unwrap();
        (program.number, held.line, held.hit, held.frames.len())
    }

    fn told(&self) -> Vec<String> {
        let state = self.yard.state.borrow();
        let held = state.tasks[0].programs.last().unwrap().held.clone().unwrap();
        let told = held.told.iter().map(|told| {
            let value = told.value.as_ref().map_or_else(Clone::clone, ToString::to_string);
            format!("{} = {value}", told.expression)
        });
        told.collect()
    }

    fn answer(&self) -> Option<String> {
        self.yard.state.borrow().tasks[0].answer.as_deref().map(str::to_owned)
    }
}

const LOOP: &str = "out = []\ndef f(n):\n    m = n + 1\n    return m\nfor i in range(4):\n    x = echo(text=str(i))\n    out.append(f(x))\nprint(out)";

#[test]
fn a_person_runs_to_lines_over_calls_and_out_of_them() {
    on_paused_time(async {
        let desk = Desk::held_at(LOOP, BreakpointPlace::Line(7)).await;
        assert_eq!(desk.at(), (1, 7, 1, 1));
        // Into the function, out of it, and over it.
        desk.wish(Command::Step).await;
        assert_eq!(desk.at(), (1, 3, 1, 2));
        desk.to(BreakpointPlace::Frame(1)).await;
        assert_eq!(desk.at(), (1, 6, 2, 1));
        desk.to(BreakpointPlace::Line(7)).await;
        desk.to(BreakpointPlace::Frame(1)).await;
        assert_eq!(desk.at(), (1, 6, 3, 1), "the function was not entered");
        desk.to(BreakpointPlace::Variable("m".to_owned())).await;
        assert_eq!(desk.at(), (1, 4, 3, 2));
        // Nothing of the program is left to run in a frame above the module: it stops at its end.
        desk.to(BreakpointPlace::Frame(0)).await;
        let state = desk.yard.state.borrow();
        assert!(state.control.is_held_at(Boundary::AfterProgram));
        assert_eq!(state.tasks[0].programs[0].how, Some(ProgramVerdict::Fine));
        assert_eq!(state.tool_calls.len(), 4, "nothing was called twice");
    });
}

#[test]
fn conditions_texts_and_hits_of_lines_are_python_over_the_variables() {
    on_paused_time(async {
        let yard = Trial { stay: true, paused: true, ..trial(&[LOOP]) }.start();
        let desk = Desk { yard };
        for text in ["line:7:if=x > 0 and len(out) == 2", "variable:m:log=m is {m!r} of {{{n}}}"] {
            let spec = Box::new(text.parse().unwrap());
            desk.yard.wish(Command::SetBreakpoint { breakpoint: None, spec, on: true });
        }
        desk.wish(Command::Run).await;
        assert_eq!(desk.at(), (1, 7, 3, 1));
        desk.wish(Command::Run).await;
        assert_eq!(desk.answer().as_deref(), Some("[1, 2, 3, 4]"));
        let records = desk.yard.records.borrow();
        let said = records.iter().filter_map(|record| match &record.event {
            Event::Breakpoint(BreakpointEvent::BreakpointHit { text, .. }) => Some(text.clone()),
            _ => None,
        });
        let said: Vec<String> = said.filter(|text| !text.is_empty()).collect();
        assert_eq!(said, ["m is 1 of {0}", "m is 2 of {1}", "m is 3 of {2}", "m is 4 of {3}"]);
    });
    on_paused_time(async {
        let yard = Trial { stay: true, paused: true, ..trial(&[LOOP]) }.start();
        for (text, why) in [
            ("line:7:if=echo(text=1)", "echo is a tool; expressions cannot call tools"),
            ("line:7:log={x", "not a Python expression"),
        ] {
            let spec = Box::new(text.parse().unwrap());
            yard.wish(Command::SetBreakpoint { breakpoint: None, spec, on: true });
            yard.settle().await;
            let refused = yard.refusals().pop().unwrap_or_default();
            assert!(refused.contains(why), "{text}: {refused}");
        }
    });
}

#[test]
fn a_person_asks_for_a_value_sets_a_variable_and_goes_on_from_there() {
    on_paused_time(async {
        let desk = Desk::held_at(LOOP, BreakpointPlace::Line(4)).await;
        desk.to(BreakpointPlace::Line(4)).await;
        desk.ask("[n, m, len(out)]", None).await;
        assert_eq!(
            (desk.at(), desk.told()),
            ((1, 4, 2, 2), vec!["[n, m, len(out)] = [1,2,1]".to_owned()])
        );
        desk.ask("m * 100", Some("m")).await;
        assert_eq!(desk.at(), (1, 4, 2, 2));
        let value = |name: &str| {
            let state = desk.yard.state.borrow();
            let program = &state.tasks[0].programs[0];
            program.values.iter().rev().find(|set| set.name == name).map(|set| set.value.clone())
        };
        assert_eq!(value("m"), Some(200.into()));
        desk.wish(Command::Run).await;
        assert_eq!(desk.answer().as_deref(), Some("[1, 200, 3, 4]"));
        assert_eq!(desk.yard.state.borrow().tool_calls.len(), 4, "nothing was called twice");
        // Whoever runs it again gets the same, and calls nothing.
        let records: Vec<Record> =
            desk.yard.records.borrow().iter().map(|record| (**record).clone()).collect();
        let again = Trial {
            beginning: Beginning::Over { of: records.into(), until: None },
            paused: true,
            stay: true,
            ..trial(&[])
        };
        let made = Rc::clone(&again.made);
        let again = again.start();
        again.until("the task is done", |state| state.tasks_done == 1).await;
        assert_eq!(again.state.borrow().tasks[0].answer.as_deref(), Some("[1, 200, 3, 4]"));
        assert_eq!(made.borrow().len(), 0);
    });
}

#[test]
fn a_person_edits_the_program_and_it_goes_on_over_the_record_writes_included() {
    on_paused_time(async {
        let mut trial =
            Trial { stay: true, paused: true, effect: EffectClass::Write, ..trial(&[LOOP]) };
        trial.knobs = vec![(Knob::Programs, 1.0)];
        let made = Rc::clone(&trial.made);
        let desk = Desk { yard: trial.start() };
        desk.to(BreakpointPlace::Line(7)).await;
        desk.to(BreakpointPlace::Line(7)).await;
        assert_eq!((desk.at(), made.borrow().len()), ((1, 7, 2, 1), 2));
        let edit = |text: String| Command::EditProgram { task: TaskId(1), text };
        // What follows is changed: it goes on where it was, and nothing was asked or called.
        desk.wish(edit(LOOP.replace("print(out)", "print('yours', out)"))).await;
        assert_eq!((desk.at(), made.borrow().len()), ((2, 7, 2, 1), 2));
        // What came before is changed: it is held at the first change.
        desk.wish(edit(LOOP.replace("m = n + 1", "m = n + 10"))).await;
        assert_eq!((desk.at(), made.borrow().len()), ((3, 3, 1, 2), 2));
        desk.wish(Command::Run).await;
        assert_eq!(desk.answer().as_deref(), Some("[10, 11, 12, 13]"));
        assert_eq!(made.borrow().len(), 4, "each call was made once");
        let state = desk.yard.state.borrow();
        let sources: Vec<_> = state.tasks[0].programs.iter().map(|it| it.from).collect();
        let persons = ProgramSource::Person;
        assert_eq!(sources, [ProgramSource::Reply, persons, persons]);
        assert_eq!(state.model_calls.len(), 1);
    });
}

#[test]
fn a_failed_program_is_held_for_who_breaks_on_errors_and_a_person_repairs_it() {
    on_paused_time(async {
        let text = format!("{FILM}\nprint(r['crow'][0]['name'])");
        let desk =
            Desk::held_at(&text, BreakpointPlace::Trouble(Some(Trouble::ProgramError))).await;
        {
            let state = desk.yard.state.borrow();
            assert!(state.control.is_held_at(Boundary::AfterProgram));
            let error = state.tasks[0].programs[0].error().unwrap();
            assert_eq!(error.had.as_deref(), Some("has: title, crew"));
        }
        let repaired = text.replace("crow", "crew");
        desk.yard.wish(Command::EditProgram { task: TaskId(1), text: "x = (".to_owned() });
        desk.yard.settle().await;
        assert!(desk.yard.refusals()[0].contains("SyntaxError"), "{:?}", desk.yard.refusals());
        desk.wish(Command::EditProgram { task: TaskId(1), text: repaired }).await;
        assert_eq!(desk.at(), (2, 2, 1, 1));
        desk.wish(Command::Run).await;
        assert_eq!(desk.answer().as_deref(), Some("Ada"));
        assert_eq!(desk.yard.state.borrow().model_calls.len(), 1, "nobody else revised it");
    });
}

#[test]
fn where_somebody_looks_on_a_program_tells_the_last_values_of_its_lines() {
    on_paused_time(async {
        for (stay, wanted) in [(true, "1 5 6 2 3 7"), (false, "")] {
            let yard = Trial { stay, ..trial(&[LOOP]) }.start();
            yard.until("the task is done", |state| state.tasks_done == 1).await;
            let state = yard.state.borrow();
            let program = &state.tasks[0].programs[0];
            let lines: Vec<String> =
                program.values.iter().map(|set| set.line.to_string()).collect();
            assert_eq!(lines.join(" "), wanted);
            let m = program.values_of(3).find(|set| set.name == "m").map(|set| set.value.clone());
            assert_eq!(m, stay.then(|| 4.into()));
            assert_eq!(state.tool_calls.len(), 4);
        }
    });
}

/// What has been called, and what a program still has ahead of it in its record.
fn ahead(desk: &Desk) -> usize {
    desk.yard.state.borrow().tasks[0].programs[0].held.as_ref().unwrap().ahead
}

#[test]
fn a_person_takes_a_program_back_and_nothing_is_called_twice() {
    on_paused_time(async {
        let trial =
            Trial { stay: true, paused: true, effect: EffectClass::Write, ..trial(&[LOOP]) };
        let made = Rc::clone(&trial.made);
        let desk = Desk { yard: trial.start() };
        let back = |to| Command::TakeProgramBack { task: TaskId(1), to };
        for _ in 0..3 {
            desk.to(BreakpointPlace::Line(7)).await;
        }
        assert_eq!((desk.at(), made.borrow().len()), ((1, 7, 3, 1), 3));
        desk.wish(back(Back::Line)).await;
        assert_eq!((desk.at(), ahead(&desk)), ((1, 6, 3, 1), 1), "before the call of this time");
        desk.wish(back(Back::Call)).await;
        assert_eq!((desk.at(), ahead(&desk)), ((1, 6, 2, 1), 2));
        desk.wish(back(Back::Line)).await;
        assert_eq!(desk.at(), (1, 4, 1, 2), "in the function");
        let values = || {
            let state = desk.yard.state.borrow();
            let values = state.tasks[0].programs[0].values.iter();
            values.map(|set| format!("{}={}", set.name, set.value)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(values(), "out=[] i=0 x=0 n=0 m=1", "what came later is gone");
        desk.wish(back(Back::Statement(1))).await;
        assert_eq!((desk.at(), values()), ((1, 1, 1, 1), String::new()));
        for (to, why) in [
            (Back::Line, "this is the first statement of the program"),
            (Back::Call, "the program has no call before this place"),
        ] {
            desk.yard.wish(back(to));
            desk.yard.settle().await;
            assert_eq!(desk.yard.refusals().pop().unwrap(), why);
        }
        desk.to(BreakpointPlace::Line(7)).await;
        assert_eq!((desk.at(), made.borrow().len()), ((1, 7, 1, 1), 3), "of the record");
        desk.wish(Command::Run).await;
        assert_eq!(desk.answer().as_deref(), Some("[1, 2, 3, 4]"));
        assert_eq!(made.borrow().len(), 4, "each call was made once");
    });
}

#[test]
fn a_program_that_was_taken_back_goes_another_way_and_its_record_is_kept() {
    on_paused_time(async {
        let trial = Trial { stay: true, paused: true, ..trial(&[LOOP]) };
        let made = Rc::clone(&trial.made);
        let desk = Desk { yard: trial.start() };
        let back = |to| Command::TakeProgramBack { task: TaskId(1), to };
        // Back from its end.
        desk.to(BreakpointPlace::Frame(0)).await;
        assert!(desk.yard.state.borrow().control.is_held_at(Boundary::AfterProgram));
        desk.wish(back(Back::Line)).await;
        assert_eq!((desk.at(), ahead(&desk)), ((1, 8, 1, 1), 0));
        assert_eq!(desk.yard.state.borrow().tasks[0].programs[0].how, None);
        desk.wish(back(Back::Call)).await;
        desk.wish(back(Back::Call)).await;
        assert_eq!((desk.at(), ahead(&desk)), ((1, 6, 3, 1), 2));
        desk.ask("1", Some("i")).await;
        assert_eq!((desk.at(), ahead(&desk), made.borrow().len()), ((1, 6, 3, 1), 2, 4));
        // The call with 1 instead of 2 is one that the way before has made, too.
        desk.wish(Command::Run).await;
        assert_eq!(desk.answer().as_deref(), Some("[1, 2, 2, 4]"));
        let left = desk.yard.state.borrow().tasks[0].programs[0].left.len();
        assert_eq!(left, 2, "two calls are left behind");
        // Whoever runs it again gets the same, and calls nothing.
        let records: Vec<Record> =
            desk.yard.records.borrow().iter().map(|record| (**record).clone()).collect();
        let again = Trial {
            beginning: Beginning::Over { of: records.into(), until: None },
            paused: true,
            stay: true,
            ..super::programs::trial(&[])
        };
        let made = Rc::clone(&again.made);
        let again = again.start();
        again.until("the task is done", |state| state.tasks_done == 1).await;
        assert_eq!(again.state.borrow().tasks[0].answer.as_deref(), Some("[1, 2, 2, 4]"));
        assert_eq!(made.borrow().len(), 0);
    });
}

#[test]
fn a_write_that_a_program_has_left_behind_is_not_done_again_unasked() {
    const WRITES: &str = "for i in range(3):\n    x = echo(text=str(i))\nprint(x)";
    on_paused_time(async {
        let trial =
            Trial { stay: true, paused: true, effect: EffectClass::Write, ..trial(&[WRITES]) };
        let made = Rc::clone(&trial.made);
        let desk = Desk { yard: trial.start() };
        let back = |to| Command::TakeProgramBack { task: TaskId(1), to };
        desk.to(BreakpointPlace::Frame(0)).await;
        desk.wish(back(Back::Call)).await;
        desk.wish(back(Back::Call)).await;
        assert_eq!((desk.at(), made.borrow().len()), ((1, 2, 2, 1), 3));
        // The second time it makes the call of the third time, which is done already.
        desk.ask("2", Some("i")).await;
        desk.yard.wish(Command::Run);
        let mut last = None;
        for _ in 0..2 {
            let is_next =
                |state: &State| state.control.asks.first().is_some_and(|it| Some(*it) != last);
            desk.yard.until("it asks", is_next).await;
            let effect = desk.yard.state.borrow().control.asks[0];
            desk.yard.wish(Command::Consent { effect, allowed: false });
            last = Some(effect);
        }
        desk.yard.until("it is done", |state| state.tasks_done == 1).await;
        assert_eq!(desk.answer().as_deref(), Some("2"));
        assert_eq!(made.borrow().len(), 3, "no write was done twice");
    });
}

#[test]
fn an_expression_that_takes_too_long_harms_no_program() {
    on_paused_time(async {
        let desk = Desk::held_at(LOOP, BreakpointPlace::Line(7)).await;
        desk.ask("sum(i for i in range(10**9))", None).await;
        assert_eq!(desk.told(), ["sum(i for i in range(10**9)) = it takes longer than 50 ms"]);
        desk.ask("sum(i for i in range(10**9))", Some("x")).await;
        assert!(desk.told().iter().all(|told| told.ends_with("longer than 50 ms")));
        desk.wish(Command::Run).await;
        assert_eq!(desk.answer().as_deref(), Some("[1, 2, 3, 4]"));
    });
}

#[test]
fn an_expression_calls_no_tool_by_another_name() {
    on_paused_time(async {
        let text = "e = echo\nx = e(text='1')\ny = 2\nprint(x)";
        let desk = Desk::held_at(text, BreakpointPlace::Line(4)).await;
        for sets in [None, Some("x")] {
            desk.ask("e(text='2')", sets).await;
            let why = "it calls a tool; expressions cannot call tools";
            assert!(desk.told().iter().all(|told| told.ends_with(why)), "{:?}", desk.told());
        }
        desk.wish(Command::Run).await;
        assert_eq!(desk.answer().as_deref(), Some("1"));
        assert_eq!(desk.yard.state.borrow().tool_calls.len(), 1);
    });
}
