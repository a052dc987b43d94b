//! A session and its twin, call by call: the first difference, what is in step, and the price.

use std::sync::Arc;

use toolyard::domain::{Event, State, TaskEvent};
use toolyard::ui::hits::Target;
use toolyard::ui::pane::PaneId;
use toolyard::ui::screen::Screen;
use toolyard::ui::twin::{TwinKind, TwinNews, TwinSums};
use toolyard::ui::twin_call::TwinCall;
use toolyard::ui::view::ReadOnly;

use super::{draw, hostile};
use crate::panes::resilience::session;
use crate::stage::{Stage, setup};

/// News of a twin with this state, up to its end.
fn news(of: &State) -> Vec<TwinNews> {
    let calls = TwinNews::Calls(TwinCall::all(of), Box::new(TwinSums::of(of)));
    let laps = of.laps_in_order().into_iter().map(TwinNews::Lap);
    [calls].into_iter().chain(laps).chain([TwinNews::Ended(None)]).collect()
}

/// A replay of a session whose usual search fails from its third task on, which the fourth calls, beside one without the fault.
fn beside((width, height): (u16, u16)) -> Stage {
    let (own, other) = (session(6, Some(3), true), session(6, None, true));
    let mut screen = Screen::new(setup());
    screen.view.read_only = Some(ReadOnly::Replay);
    // The twin begins in mid-session: what comes later is added.
    for (at, record) in own.iter().enumerate() {
        if at == own.len() / 2 {
            screen.begin_twin(TwinKind::Origin);
        }
        screen.receive(Arc::new(record.clone()));
    }
    news(&State::fold(&other)).into_iter().for_each(|news| screen.hear_of_twin(news));
    screen.view.told = false;
    Stage::showing(screen).sized(width, height)
}

#[test]
fn both_sessions_stand_beside_each_other() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let stage = beside((width, height));
        let text = stage.text();
        assert!(text.contains("first difference: task 4, call 2: "), "{text}");
        assert!(text.contains("price of the difference: −1 call, "), "{text}");
        insta::assert_snapshot!(format!("twin-{width}x{height}"), text);
    }
}

#[test]
fn keys_go_through_the_calls_and_to_their_moments() {
    let mut stage = beside((120, 40));
    // The selection is at the first difference, and a key looks at its moment.
    let selected = |stage: &Stage| {
        let text = stage.text();
        text.lines().find(|line| line.contains('▸') && line.contains("    ")).unwrap().to_owned()
    };
    assert!(stage.shows("≠"), "{}", stage.text());
    stage.press("k");
    assert!(selected(&stage).contains("the same"), "{}", stage.text());
    stage.press("@");
    let moment = stage.screen.view.moment.unwrap();
    let shown = stage.screen.shown();
    assert_eq!((shown.n, shown.tasks_done), (moment, 3));
    // Without a selection the pane follows the moment, and so does a play.
    stage.press("esc");
    stage.press("} }");
    let later = stage.screen.view.moment;
    assert_ne!(later, Some(moment));
    stage.press("V");
    assert!(stage.shows("in step by call"), "{}", stage.text());
    stage.press("V");
    assert!(stage.shows("in step by time"), "{}", stage.text());
    assert!(stage.shows("first difference: task 4, call 2: "), "{}", stage.text());
    stage.press("V");
    assert!(stage.shows("in step by task"), "{}", stage.text());
    stage.press("/");
    stage.write("no such call");
    assert!(stage.shows("no call matches"), "{}", stage.text());
    stage.press("esc esc home");
    stage.click(&Target::Pair(0));
    stage.press("enter");
    assert!(stage.shows("Prompt"), "{}", stage.text());
}

#[test]
fn what_may_still_come_is_no_difference() {
    let records = session(6, None, true);
    let mut screen = Screen::new(setup());
    let ended = |record: &toolyard::domain::Record| {
        matches!(record.event, Event::Task(TaskEvent::TaskFinished { .. }))
    };
    let half = records.iter().position(ended).unwrap();
    for record in &records[..=half] {
        screen.receive(Arc::new(record.clone()));
    }
    screen.begin_twin(TwinKind::Origin);
    news(&State::fold(&records)).into_iter().for_each(|news| screen.hear_of_twin(news));
    let mut stage = Stage::showing(screen).sized(120, 40);
    assert!(stage.shows("no difference: ") && stage.shows("not yet"), "{}", stage.text());
    // The twin has done more: only the task that both have done is compared.
    let price = "price of the difference in 1 task of both: 0 calls, 0 tokens, equally many right";
    assert!(stage.shows(price), "{}", stage.text());
    for record in &records[half + 1..] {
        stage.screen.receive(Arc::new(record.clone()));
    }
    stage.draw();
    assert!(stage.shows("no difference: ") && !stage.shows("not yet"), "{}", stage.text());
    assert!(stage.shows("price of the difference: 0 calls, 0 tokens, "), "{}", stage.text());
}

#[test]
fn hostile_calls_are_only_shown() {
    let story = hostile();
    let mut screen = Screen::new(setup());
    for record in &story.records {
        screen.receive(Arc::new(record.clone()));
    }
    screen.begin_twin(TwinKind::Origin);
    let other = State::fold(&session(2, None, true));
    news(&other).into_iter().for_each(|news| screen.hear_of_twin(news));
    let mut stage = Stage::showing(screen).sized(120, 40);
    stage.draw();
    let (view, state) = (&stage.screen.view, stage.screen.live());
    for (width, height) in [(20, 8), (80, 24), (160, 50), (3, 3), (1, 1)] {
        let shown = draw(PaneId::Twin, state, view, state.at, width, height);
        assert!(!shown.has("\u{202e}"));
    }
}
