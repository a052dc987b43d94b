//! Programs over tools: calls as effects, reflection, what is not done twice, and stops between statements.

use std::rc::Rc;

use toolyard::domain::{
    BlamedBy, Caveat, Command, EffectClass, Knob, Mode, ModelError, Origin, Outcome,
    ProgramVerdict, Reflect, Reply, Role, State, TaskState,
};
use toolyard::engine::Beginning;

use super::yard::{Trial, on_paused_time, say};

/// A reply with this program.
fn program(text: &str) -> Result<Reply, ModelError> {
    Ok(say(&format!("Here it is.\n```python\n{text}\n```")))
}

pub fn trial(programs: &[&str]) -> Trial {
    toolyard::process::set_reaper(env!("CARGO_BIN_EXE_toolyard").into());
    let replies = programs.iter().map(|text| program(text)).collect();
    Trial { strategy: "atc", replies, ..Trial::default() }
}

async fn ran(trial: Trial) -> State {
    trial.start().session.await.unwrap()
}

/// The last message of the model call of this number.
fn asked(state: &State, number: usize) -> String {
    state.model_calls[number].request.messages.last().unwrap().text().to_owned()
}

fn verdicts(task: &TaskState) -> Vec<Option<ProgramVerdict>> {
    task.programs.iter().map(|program| program.how).collect()
}

pub const FILM: &str = "r = echo(text='{\"title\": \"Mars\", \"crew\": [{\"name\": \"Ada\"}]}')";

#[test]
fn calls_are_effects_with_their_lines_and_what_is_printed_is_the_answer() {
    on_paused_time(async {
        let text = "texts = ['a', 'b', 'c']\n\
            for r in all_of(echo, [{'text': t, 'ms': 50} for t in texts]):\n    print(r, end=' ')\n\
            print(echo('{\"n\": 7}')['n'])";
        let yard = trial(&[text]).start();
        let at_once = Rc::clone(&yard.most_at_once);
        let state = yard.session.await.unwrap();
        let task = &state.tasks[0];
        assert_eq!(task.answer.as_deref(), Some("a b c 7"));
        assert_eq!(at_once.borrow().1, 3, "calls of all_of run in parallel");
        let lines: Vec<_> = state.tool_calls.iter().map(|call| (call.step, call.line)).collect();
        assert_eq!(lines, [(1, Some(2)), (1, Some(2)), (1, Some(2)), (1, Some(4))]);
        assert_eq!(task.programs[0].calls.len(), 4);
        assert_eq!(verdicts(task), [Some(ProgramVerdict::Fine)]);
        let request = &state.model_calls[0].request;
        assert_eq!((request.role, request.tools.len()), (Role::Programmer, 0));
        let shown = request.messages[1].text();
        assert!(
            shown.contains(
                "def echo(text: str, ms: int = None):\n    \"\"\"echo says what it is told\"\"\""
            ),
            "{shown}"
        );
    });
}

#[test]
fn a_loop_makes_more_calls_than_a_reply_may_and_ends_at_the_limit_of_programs() {
    on_paused_time(async {
        let text =
            |calls: u32| format!("for n in range({calls}):\n    x = echo(text=str(n))\nprint(x)");
        let state = ran(trial(&[&text(20)])).await;
        assert_eq!(state.tasks[0].answer.as_deref(), Some("19"));
        let mut endless = trial(&[&text(60)]);
        endless.knobs.push((Knob::Programs, 1.0));
        let state = ran(endless).await;
        assert_eq!((state.tool_calls.len(), state.tasks[0].answer.as_deref()), (50, None));
    });
}

#[test]
fn a_wrong_key_is_blamed_on_the_tool_by_the_flow_of_data_and_the_next_program_is_told() {
    on_paused_time(async {
        let failing = format!("{FILM}\nprint(r['director'])");
        let repaired = format!("{FILM}\nprint(r['crew'][0]['name'])");
        let trial = trial(&[&failing, &repaired]);
        let made = Rc::clone(&trial.made);
        let state = ran(trial).await;
        let task = &state.tasks[0];
        assert_eq!(task.answer.as_deref(), Some("Ada"));
        assert_eq!(verdicts(task), [Some(ProgramVerdict::Failed), Some(ProgramVerdict::Fine)]);
        let blamed = task.programs[0].blamed.as_ref().unwrap();
        assert_eq!((blamed.tool.as_ref().unwrap().as_str(), blamed.by), ("echo", BlamedBy::Flow));
        assert_eq!(blamed.path, [("r".to_owned(), 1), ("echo".to_owned(), 1)]);
        assert!(
            state.model_calls.iter().all(|call| call.role == Role::Programmer),
            "no model was asked for it"
        );
        let told = asked(&state, 1);
        for part in [
            "   2  print(r['director'])\n            ~~~~~~~~~~~~~",
            "KeyError: 'director'",
            "`director` is not in echo (has: title, crew); no known result has it",
            "The error comes from echo. Its document:\n\ndef echo(text: str",
            "What it really returned:",
            "Write the whole program again",
        ] {
            assert!(told.contains(part), "{part} is missing in\n{told}");
        }
        // The second program has the same call: its result is used again, for nothing.
        assert_eq!(made.borrow().len(), 1);
        let origins: Vec<_> = state.tool_calls.iter().map(|call| call.origin).collect();
        assert_eq!(origins, [Origin::Live, Origin::Reused]);
        assert_eq!(task.budget.spent.tools, 2.0, "it is charged once");
    });
}

/// Only the results of earlier programs are used again: a program may want a call twice.
#[test]
fn equal_calls_of_one_program_are_both_made() {
    on_paused_time(async {
        let twice = "a = echo(text='x')\nb = echo(text='x')\nprint(a + b)";
        let failing = format!("{FILM}\nprint(r['director'])");
        let trial = trial(&[&failing, twice]);
        let made = Rc::clone(&trial.made);
        let state = ran(trial).await;
        assert_eq!(state.tasks[0].answer.as_deref(), Some("xx"));
        assert_eq!(made.borrow().len(), 3);
        assert!(state.tool_calls.iter().all(|call| call.origin == Origin::Live));
    });
}

#[test]
fn a_model_is_asked_where_the_flow_names_no_tool() {
    on_paused_time(async {
        let failing = format!("{FILM}\nprint(1 / 0)");
        let mut trial = trial(&[&failing]);
        trial.replies.push(Ok(say("It is hang, since nothing else could be.")));
        trial.replies.push(program("print('done')"));
        let state = ran(trial).await;
        let roles: Vec<_> = state.model_calls.iter().map(|call| call.role).collect();
        assert_eq!(roles, [Role::Programmer, Role::Attributor, Role::Programmer]);
        let blamed = state.tasks[0].programs[0].blamed.as_ref().unwrap();
        assert_eq!((blamed.tool.as_ref().unwrap().as_str(), blamed.by), ("hang", BlamedBy::Model));
        assert!(asked(&state, 1).contains("- hang: hang says what it is told"));
        assert!(asked(&state, 2).contains("The error comes from hang"));
    });
}

#[test]
fn reflection_can_be_naive_or_off_and_programs_are_counted() {
    for (reflect, programs, wanted) in
        [(Reflect::Attribute, 2, 2), (Reflect::Naive, 3, 3), (Reflect::Off, 3, 1)]
    {
        on_paused_time(async move {
            let failing = format!("{FILM}\nprint('so far')\nprint(r['director'])");
            let mut trial = trial(&[&failing, &failing, &failing, &failing]);
            trial.knobs = vec![
                (Knob::Reflect, f64::from(reflect as u8)),
                (Knob::Programs, f64::from(programs)),
            ];
            let state = ran(trial).await;
            let task = &state.tasks[0];
            assert_eq!(
                (task.outcome(), &task.answer),
                (Some(Outcome::Failed), &None),
                "partial output is no answer"
            );
            assert_eq!(task.programs.len(), wanted, "{reflect:?}");
            if reflect == Reflect::Naive {
                let told = asked(&state, 1);
                assert!(
                    told.contains("KeyError") && told.contains("Printed before that:\nso far"),
                    "{told}"
                );
                assert!(!told.contains("Its document"), "{told}");
            }
        });
    }
}

#[test]
fn a_reply_without_a_program_and_one_that_cannot_run_call_nothing_and_are_told_why() {
    on_paused_time(async {
        let mut trial = trial(&[]);
        trial.replies = vec![
            Ok(say("I cannot do that.")),
            program("import requests\nx = ecko(text='a')\ndel x"),
            program("print(echo(text='done'))"),
        ];
        let state = ran(trial).await;
        let task = &state.tasks[0];
        assert_eq!(task.answer.as_deref(), Some("done"));
        assert_eq!(state.tool_calls.len(), 1);
        assert_eq!(task.programs[0].refused[0].kind, "NoProgram");
        let kinds: Vec<_> =
            task.programs[1].refused.iter().map(|flaw| flaw.kind.as_str()).collect();
        assert_eq!(kinds, ["ModuleNotFoundError", "NameError", "NotImplementedError"]);
        assert!(asked(&state, 1).contains("There is no program in this reply"));
        let told = asked(&state, 2);
        assert!(
            told.contains("(did you mean echo?)") && told.contains("there is no del here"),
            "{told}"
        );
    });
}

#[test]
fn an_answer_of_nothing_but_empty_results_is_doubted_once_and_then_accepted() {
    on_paused_time(async {
        let text = "print('found:', echo(text=''))";
        let state = ran(trial(&[text, text])).await;
        let task = &state.tasks[0];
        assert_eq!(verdicts(task), [Some(ProgramVerdict::Doubtful); 2]);
        assert_eq!(task.answer.as_deref(), Some("found:"));
        assert_eq!(task.caveats, [Caveat::WithoutEvidence]);
        assert!(asked(&state, 1).contains("was an error, empty or null"));
    });
}

#[test]
fn failed_and_refused_calls_are_exceptions_that_a_program_can_catch() {
    on_paused_time(async {
        let text = "for call in [lambda: echo(text='a'), lambda: echo(text=5), lambda: hang(text='a')]:\n    \
            try:\n        call()\n    except (RuntimeError, TypeError, TimeoutError) as e:\n        print(type(e).__name__, e)";
        let trial = Trial { faults: vec!["echo:error:text=no way"], ..trial(&[text]) };
        let state = ran(trial).await;
        let answer = state.tasks[0]
            .answer
            .clone()
            .unwrap_or_else(|| format!("{:?}", state.tasks[0].programs));
        let lines: Vec<&str> = answer.lines().collect();
        assert_eq!(lines[0], "RuntimeError echo: no way");
        assert!(lines[1].starts_with("TypeError echo(): "), "{answer}");
        assert_eq!(lines[2], "TimeoutError hang: hang did not answer within 10000 ms");
        assert_eq!(state.tasks[0].programs[0].how, Some(ProgramVerdict::Doubtful));
    });
}

#[test]
fn a_write_is_made_once_over_all_programs_and_a_person_is_asked_to_repeat_it() {
    let write = "r = echo(text='{\"booked\": 1}')\n";
    let programs = [
        format!("{write}print(r['no'])"),
        format!("{write}print(r['nor'])"),
        format!("{write}print(r['booked'])"),
    ];
    let programs: Vec<&str> = programs.iter().map(String::as_str).collect();
    on_paused_time(async {
        let trial = Trial {
            effect: EffectClass::Write,
            knobs: vec![(Knob::Reuse, 0.0)],
            ..trial(&programs)
        };
        let made = Rc::clone(&trial.made);
        let state = ran(trial).await;
        assert_eq!(state.tasks[0].answer.as_deref(), Some("1"));
        assert_eq!(made.borrow().len(), 1, "nobody can be asked, so nothing is repeated");
    });
    on_paused_time(async {
        let trial = Trial { effect: EffectClass::Write, stay: true, ..trial(&programs) };
        let made = Rc::clone(&trial.made);
        let yard = trial.start();
        for (number, allowed) in [(1, false), (2, true)] {
            yard.until("it is asked", |state| !state.control.asks.is_empty()).await;
            let effect = yard.state.borrow().control.asks[0];
            assert_eq!(made.borrow().len(), 1, "before the answer {number}");
            yard.wish(Command::Consent { effect, allowed });
            yard.until("it goes on", |state| !state.control.asks.contains(&effect)).await;
        }
        yard.until("the task is done", |state| state.tasks_done == 1).await;
        assert_eq!(yard.state.borrow().tasks[0].answer.as_deref(), Some("1"));
        assert_eq!(made.borrow().len(), 2);
    });
}

#[test]
fn a_step_stops_before_each_statement_also_of_a_program_that_runs_already() {
    on_paused_time(async {
        let text = "def f(n):\n    m = n + 1\n    return m\nx = echo(text='1', ms=1000)\ny = f(x)\nprint(y)";
        let yard = trial(&[text]).start();
        yard.until("the call runs", |state| state.tool_calls_in_flight().count() > 0).await;
        yard.wish(Command::Pause);
        yard.until("it pauses", |state| state.control.mode == Mode::Paused).await;
        let mut seen = Vec::new();
        while yard.state.borrow().tasks_done == 0 {
            let before = yard.state.borrow().n;
            yard.wish(Command::Step);
            yard.until("it stops again", |state| {
                state.n > before && (state.control.mode == Mode::Paused || state.tasks_done == 1)
            })
            .await;
            let state = yard.state.borrow();
            let held = state.tasks[0].programs[0].held.as_ref();
            let set = |held: &toolyard::domain::program::LineStop| {
                held.set
                    .iter()
                    .map(|set| format!(" {}={}", set.name, set.value))
                    .collect::<String>()
            };
            let line = held.map(|held| format!("{}:{}{}", held.frames.len(), held.line, set(held)));
            if line.as_ref() != seen.last() {
                seen.extend(line);
            }
        }
        assert_eq!(seen, ["1:5 x=1", "2:2 n=1", "2:3 m=2", "1:6 y=2"]);
        assert_eq!(yard.state.borrow().tasks[0].answer.as_deref(), Some("2"));
        assert_eq!(yard.state.borrow().tool_calls.len(), 1, "it was run again over its result");
    });
}

#[test]
fn the_clock_is_recorded_and_a_replay_tells_the_same_time() {
    on_paused_time(async {
        let text =
            "from datetime import datetime\nprint(datetime.now().isoformat(), echo(text='a'))";
        let yard = trial(&[text]).start();
        let records = Rc::clone(&yard.records);
        let first = yard.session.await.unwrap();
        let records: Vec<_> = records.borrow().iter().map(|record| (**record).clone()).collect();
        std::thread::sleep(std::time::Duration::from_millis(5));
        let again = ran(Trial {
            beginning: Beginning::Over { of: records.into(), until: None },
            ..trial(&[])
        })
        .await;
        assert_eq!(again.tasks[0].answer, first.tasks[0].answer);
        assert_eq!(again.tool_calls[0].origin, Origin::Recorded);
    });
}
