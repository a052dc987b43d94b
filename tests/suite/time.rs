//! Moving through time: landmarks, the moment of what is selected, and the way back.

use serde_json::json;
use toolyard::domain::state::{Keeps, Landmark, RECENT, State};
use toolyard::domain::{BreakpointEvent, BreakpointId, BreakpointSpec, EffectId};
use toolyard::domain::{By, ChangeEvent, Event, Knob, Record, SessionEvent, TaskEvent};
use toolyard::domain::{FaultEvent, FaultId, FaultSpec};
use toolyard::store::journal::{FORMAT, Header, Journal, Marker};
use toolyard::ui::pane::PaneId;
use toolyard::ui::screen::{Screen, Setup};
use toolyard::ui::view::ReadOnly;
use toolyard::ui::{hits::Target, symbols::Charset, theme::Theme};

use crate::stage::{Stage, setup};
use crate::story::{self, Story};

fn replay(story: &Story) -> Stage {
    Stage::with(story, Setup { read_only: Some(ReadOnly::Replay), ..setup() })
}

/// The event of this kind that is the so-manieth of the story, from 0.
fn nth(story: &Story, which: usize, is_it: impl Fn(&Event) -> bool) -> u64 {
    story.records.iter().filter(|record| is_it(&record.event)).nth(which).unwrap().n
}

fn of(kind: Landmark) -> impl Fn(&Event) -> bool {
    move |event| Landmark::of(event).any(|other| other == kind)
}

#[test]
fn keys_go_from_landmark_to_landmark_and_back() {
    let story = story::demo();
    let mut stage = replay(&story);
    let at = |stage: &Stage| stage.screen.shown().n;
    let wrong = nth(&story, 0, of(Landmark::Wrong));
    stage.press("[ w");
    assert_eq!(at(&stage), wrong);
    assert!(stage.shows(&format!("REPLAY  the demo  event {wrong}/")), "{}", stage.text());
    let failed = nth(&story, 0, of(Landmark::Failed));
    stage.press("] f");
    assert_eq!(at(&stage), failed);
    let call = stage.screen.view.call.unwrap();
    assert_eq!(stage.screen.shown().tool_call(call).unwrap().tool.as_str(), "search_web");
    stage.press("] x");
    assert!(stage.shows("no injected fault after event"), "{}", stage.text());
    stage.press("[ x");
    assert_eq!(at(&stage), nth(&story, 0, of(Landmark::Fired)));
    stage.press("alt-n [ c");
    assert_eq!(at(&stage), nth(&story, 0, |event| event.kind() == "ToolSwitched"));
    stage.press("[ e [ e [ e");
    assert_eq!(at(&stage), nth(&story, 0, |event| event.kind() == "ScoreSet"));
    stage.press("] t");
    assert_eq!(at(&stage), nth(&story, 2, of(Landmark::TaskEnded)));
    let places = |stage: &mut Stage, keys: &str| {
        let press = |key| {
            stage.press(key);
            stage.screen.view.moment
        };
        keys.split(' ').map(press).collect::<Vec<_>>()
    };
    let score = nth(&story, 0, |event| event.kind() == "ScoreSet");
    assert_eq!(places(&mut stage, "backspace"), [Some(score)]);
    let back = places(&mut stage, &["ctrl-o"; 9].join(" "));
    assert_eq!((back[6], back[7]), (Some(wrong), None), "{back:?}");
    assert!(stage.shows("no jump to undo"), "{}", stage.text());
    stage.press("^ [ w");
    assert!(stage.shows("no wrong task before event 1"), "{}", stage.text());
    assert_eq!(stage.screen.view.moment, Some(1));
    // Leaving the past can be taken back too.
    stage.press("] w esc backspace");
    assert_eq!(at(&stage), wrong);
}

#[test]
fn tasks_are_gone_through_one_by_one() {
    let story = story::demo();
    let mut stage = replay(&story);
    let start = |which| {
        nth(&story, which, |event| matches!(event, Event::Task(TaskEvent::TaskStarted { .. })))
    };
    for (keys, task) in [("{", 4), ("{", 3), ("alt-up", 2), ("}", 3), ("alt-down", 4)] {
        stage.press(keys);
        assert_eq!(stage.screen.view.moment, Some(start(task)), "{keys}");
    }
    stage.press("}");
    assert_eq!(stage.screen.view.moment, None, "behind the last task is the end");
}

#[test]
fn the_selected_thing_leads_to_its_moment() {
    let story = story::demo();
    let mut stage = replay(&story);
    stage.press("7 home @");
    assert_eq!(stage.screen.view.moment, Some(nth(&story, 0, of(Landmark::TaskEnded))));
    // What is to come is reached too.
    stage.press("down down @");
    assert_eq!(stage.screen.view.moment, Some(nth(&story, 2, of(Landmark::TaskEnded))));
    stage.press("$ 2 up up up @");
    assert_eq!(stage.screen.view.moment, stage.screen.view.line);
    assert!(stage.screen.view.moment.is_some());
    stage.press("$ 6 home enter");
    assert!(stage.shows("Call "), "{}", stage.text());
    stage.press("alt-m");
    assert!(!stage.screen.view.popups.is_empty(), "only the pager's own key works in it");
    stage.press("@");
    let call = stage.screen.view.call.unwrap();
    let requested = stage.screen.live().effect(call).unwrap().n;
    assert_eq!(stage.screen.view.moment, Some(requested));
    assert!(stage.screen.view.popups.is_empty());
    stage.press("$ 4 @");
    assert!(stage.shows("the selection has no moment"), "{}", stage.text());
    stage.press("3 enter @");
    assert!(stage.shows("no moment to go to"), "{}", stage.text());
}

#[test]
fn a_number_in_the_palette_is_an_event() {
    let mut stage = replay(&story::demo());
    for (typed, moment) in [("20", Some(20)), ("goto 31", Some(31)), ("  1 ", Some(1))] {
        stage.press(":");
        stage.write(typed);
        assert!(
            stage.shows(&format!("enter goes to event {} of", moment.unwrap())),
            "{}",
            stage.text()
        );
        stage.press("enter");
        assert_eq!(stage.screen.view.moment, moment, "{typed}");
    }
    stage.press(":");
    stage.write("1,820,000");
    stage.press("enter");
    assert!(stage.shows("no event 1,820,000: the last one is"), "{}", stage.text());
    assert_eq!(stage.screen.view.popups.len(), 1);
    stage.press("esc : g o t o enter");
    stage.write("12");
    stage.press("enter");
    assert_eq!(stage.screen.view.moment, Some(12));
}

/// A journal in which one task of 83 ended wrong.
fn one_wrong_of_83() -> Story {
    let mut story = Story::open();
    story.join(story::TOOLS.map(|(name, class, cost)| story::tool(name, class, cost)));
    story.load(&story::graph_json(story::TOOLS.map(|(name, ..)| name), &[]));
    let texts: Vec<String> = (1..=83).map(|n| format!("What is {n} + {n}?")).collect();
    let tasks: Vec<_> = texts.iter().map(|text| (text.as_str(), Some("1"))).collect();
    story.queue(&tasks);
    for task in 1..=83 {
        let call = ("calculator", json!({"expression": "1 + 1"}), Ok("2"), 3);
        story.task(
            task,
            &[("I add them.", call)],
            ("2", task != 61),
            &[("calculator", 1, "right")],
        );
    }
    story
}

/// From the opened replay to the graph at the only wrong task: at most four keys.
#[test]
fn the_graph_at_the_only_wrong_task_is_four_keys_away() {
    let story = one_wrong_of_83();
    let mut stage = replay(&story).sized(80, 24);
    let keys = "[ w 1";
    assert!(keys.split(' ').count() <= 4);
    stage.press(keys);
    assert_eq!(stage.screen.shown().shown_task().unwrap().id.0, 61);
    assert_eq!(stage.screen.view.focus, PaneId::Graph);
    assert!(stage.shows("1 Graph") && stage.shows("task 61/83"), "{}", stage.text());
}

/// Where there are too many landmarks to keep all of them, each is reached all the same: what lies between those
/// that are kept is read back.
#[test]
fn every_landmark_of_a_long_session_is_reached_from_its_journal() {
    let mut story = Story::open();
    for i in 0_u32..9_000 {
        if i % 3 == 0 || i % 7 == 0 {
            let (value, was, by) = (f64::from(i), 0.0, By::Engine);
            story.tell(ChangeEvent::KnobTurned {
                knob: Knob::Budget,
                value: value.into(),
                was: was.into(),
                by,
            });
        } else {
            story.tell(SessionEvent::Noticed { text: "meanwhile".into() });
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j.jsonl");
    let (program, opened) = ("0".to_owned(), "2026-01-01T00:00:00.000Z".to_owned());
    let header = Header {
        toolyard_journal: FORMAT,
        program,
        opened,
        id: None,
        parent: None,
        parent_event: None,
        continues: None,
        continues_id: None,
        spec: None,
    };
    let mut journal = Journal::create(&path, &header).unwrap();
    story.records.iter().for_each(|record| journal.append(record).unwrap());
    let mut marker = Marker::open(&path, 0).unwrap();
    let mut screen = Screen::new(Setup { journal: Some(marker.past()), ..setup() });
    while let Some(record) = marker.read().unwrap() {
        screen.receive(record);
    }
    assert!(!screen.live().landmarks.is_whole(Landmark::Changed));
    let is_change = of(Landmark::Changed);
    let changes = story.records.iter().filter(|record| is_change(&record.event));
    let changes: Vec<u64> = changes.map(|record| record.n).collect();
    let mut stage = Stage::showing(screen);
    for n in changes.iter().rev().take(30) {
        stage.press("[ c");
        assert_eq!(stage.screen.view.moment.unwrap_or(9_001), *n);
    }
    stage.press("^");
    for n in changes.iter().take(30) {
        stage.press("] c");
        assert_eq!(stage.screen.view.moment, Some(*n));
    }
    stage.press("^ ] c , [ c");
    assert!(stage.shows("no change of a score, weight, plan or knob before"), "{}", stage.text());
}

#[test]
fn what_is_remembered_of_a_long_session_is_bounded() {
    let mut state = State::keeping(Keeps::Tasks(RECENT));
    let story = one_wrong_of_83();
    let mut n = 0;
    let size = |state: &State| serde_json::to_vec(&state.landmarks).unwrap().len();
    let mut sizes = Vec::new();
    for round in 0..400 {
        for record in &story.records {
            n += 1;
            if matches!(record.event, Event::Task(TaskEvent::TaskFinished { .. })) {
                let record = Record::new(n, n, record.event.clone());
                state.apply(&record);
            }
        }
        if round % 100 == 99 {
            sizes.push(size(&state));
        }
    }
    assert!(sizes.iter().all(|size| *size < 40_000), "{sizes:?}");
    assert!(!state.landmarks.is_whole(Landmark::TaskEnded));
    assert!(state.landmarks.is_whole(Landmark::Wrong), "rare ones are all kept");
}

/// The row above the footer.
fn time_row(stage: &Stage) -> String {
    let text = stage.text();
    text.lines().rev().nth(1).unwrap().to_owned()
}

#[test]
fn the_row_of_time_shows_landmarks_and_a_click_goes_there() {
    let story = story::demo();
    let mut stage = replay(&story);
    let row = time_row(&stage);
    assert!(row.starts_with(&format!(" event {} ▕━", story.records.len())), "{row}");
    assert!(row.trim_end().ends_with("┃▏  END"), "{row}");
    for sign in ["✗", "↯", "✎"] {
        assert!(row.contains(sign), "{row}");
    }
    let wrong = nth(&story, 0, of(Landmark::Wrong));
    stage.click(&Target::Moment(wrong));
    assert_eq!(stage.screen.view.moment, Some(wrong));
    let row = time_row(&stage);
    assert!(row.contains(&format!(" event {wrong:>3} ▕━")), "{row}");
    let ahead = story.records.len() as u64 - wrong;
    assert!(row.contains("━┃─") && row.trim_end().ends_with(&format!("END +{ahead}")), "{row}");
    stage.press("backspace");
    assert_eq!(stage.screen.view.moment, None);
    // The last cell is the present.
    let last = story.records.len() as u64;
    stage.press("^");
    stage.click(&Target::Moment(last));
    assert_eq!(stage.screen.view.moment, None);
    let small = replay(&story).sized(80, 24);
    assert!(time_row(&small).contains('✗'), "{}", small.text());
    let tiny = replay(&story).sized(70, 20);
    assert!(!tiny.shows(" event ") || !time_row(&tiny).contains('▕'), "{}", tiny.text());
}

#[test]
fn the_row_of_time_marks_only_what_fired_and_what_was_hit() {
    let signs = |stage: &Stage| -> String {
        time_row(stage).chars().filter(|c| "✗↯●✎".contains(*c)).collect()
    };
    let mut stage = Stage::of(&Story::open());
    let fault = FaultId(1);
    let spec: FaultSpec = "search_web:error".parse().unwrap();
    stage.tell(FaultEvent::FaultArmed { fault, spec, by: By::User });
    let breakpoint = BreakpointId(1);
    let spec: BreakpointSpec = "search_web".parse().unwrap();
    stage.tell(BreakpointEvent::BreakpointSet {
        breakpoint,
        spec: Box::new(spec),
        was: None,
        on: true,
        temporary: false,
        by: By::User,
    });
    let call = EffectId(1);
    stage.tell(FaultEvent::FaultMatched { fault, call, fires: false });
    let hit = |holds| BreakpointEvent::BreakpointHit {
        breakpoint,
        lane: None,
        boundary: None,
        holds,
        text: String::new(),
    };
    stage.tell(hit(false));
    let pass_time = |stage: &mut Stage| {
        for _ in 0..4 {
            stage.tell(SessionEvent::Noticed { text: "meanwhile".into() });
        }
    };
    pass_time(&mut stage);
    assert_eq!(signs(&stage), "", "{}", time_row(&stage));
    stage.tell(hit(true));
    pass_time(&mut stage);
    assert_eq!(signs(&stage), "●", "{}", time_row(&stage));
    // The demo's fault has fired: the mark is where it did.
    let stage = replay(&story::demo());
    let fired = nth(&story::demo(), 0, of(Landmark::Fired));
    let at = |x: u16| stage.screen.hits().at(x, stage.area.bottom() - 2).cloned();
    let row = stage.area.bottom() - 2;
    let marked = (0..stage.area.width).filter(|x| stage.buf[(*x, row)].symbol() == "↯");
    let events: Vec<_> = marked.map(at).collect();
    assert!(events.contains(&Some(Target::Moment(fired))), "{events:?} {fired}");
    let kinds = [Landmark::Fired, Landmark::FailedByFault];
    for event in events {
        let Some(Target::Moment(n)) = event else { panic!("{event:?}") };
        let record = &story::demo().records[n as usize - 1];
        assert!(Landmark::of(&record.event).any(|kind| kinds.contains(&kind)), "{n}");
    }
}

#[test]
fn the_row_of_time_needs_neither_colours_nor_unicode() {
    let themes = vec![Theme::default().without_colour()];
    let charset = Charset::Ascii;
    let read_only = Some(ReadOnly::Replay);
    let mut stage = Stage::with(&story::demo(), Setup { themes, charset, read_only, ..setup() });
    stage.press("[ w");
    let row = time_row(&stage);
    assert!(row.is_ascii() && row.contains("|=") && row.contains("=|-"), "{row}");
    for sign in ["!", "e"] {
        assert!(row.split('|').nth(2).unwrap().contains(sign), "{row}");
    }
}

#[test]
fn lines_of_the_transcript_say_their_events() {
    let story = story::demo();
    let mut stage = replay(&story);
    stage.press("2 z");
    let line = stage.screen.shown().transcript.last().unwrap().n;
    let text = stage.text();
    assert!(text.lines().any(|row| row.contains(&format!("  {line}  "))), "{text}");
}
