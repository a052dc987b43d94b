//! Edits of calls: what came back, what a model has read, and answers by hand.

use toolyard::domain::edit::Edit;
use toolyard::domain::{
    By, Command, EditEvent, EffectClass, EffectId, EffectRef, ToolCallEvent, ToolOutput,
};
use toolyard::ui::request::ScreenRequest;

use super::command;
use super::debug::{held_before, stopped};
use crate::stage::Stage;
use crate::watching;

#[test]
fn a_held_call_is_answered_by_hand_and_the_next_calls_alike() {
    let mut stage = held_before();
    stage.press("1 a");
    assert!(stage.shows("╔ Answer call 31 · wikipedia · in its place "), "{}", stage.text());
    stage.write("built in 1871");
    stage.press("ctrl-n ctrl-n");
    assert!(stage.shows("this call, and the next 3 of wikipedia"), "{}", stage.text());
    let requests = stage.press("ctrl-s");
    let [ScreenRequest::Send(answer), ScreenRequest::Send(Command::ArmFault { spec })] =
        &requests[..]
    else {
        panic!("{requests:?}");
    };
    let text = "built in 1871".to_owned();
    assert_eq!(*answer, Command::AnswerCall { effect: EffectId(31), text });
    assert_eq!(spec.to_string(), "wikipedia:answer:first=3:text=built in 1871");
}

#[test]
fn what_a_model_has_read_changes_after_a_question_that_says_what_it_costs() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let (story, weather) = watching::read();
        let mut stage = Stage::of(&story).sized(columns, rows);
        stage.press("6 home");
        for _ in 0..8 {
            stage.press("e");
            if stage.shows("╔ Edit the result of call") {
                break;
            }
            stage.press("esc down");
        }
        stage.press("end backspace backspace backspace backspace backspace");
        stage.write("cloudy");
        stage.press("ctrl-s");
        assert!(stage.shows("Change what the model has read?"), "{}", stage.text());
        insta::assert_snapshot!(format!("edit-past-{columns}x{rows}"), stage.text());
        let text = "27 degrees, cloudy".to_owned();
        let sent = Command::EditPast { effect: weather, text: text.clone() };
        assert_eq!(command(&mut stage, "y"), sent);
        let edit = EditEvent::CallEdited {
            effect: EffectRef::new(weather, EffectClass::Read),
            edit: Box::new(Edit::Result(text)),
            was: Box::new(Edit::Result("27 degrees".into())),
            shown: true,
            past: true,
            by: By::User,
        };
        let is_marked = |stage: &Stage| {
            stage.text().lines().any(|row| row.contains("✎") && row.contains("ms ✓"))
        };
        assert!(!is_marked(&stage), "{}", stage.text());
        stage.tell(edit);
        assert!(is_marked(&stage), "{}", stage.text());
        assert_eq!(stage.press("e ctrl-s"), [], "what is not changed is not sent");
    }
}

#[test]
fn what_came_back_is_edited_or_the_call_made_again_while_it_is_held() {
    let mut stage = Stage::of(&stopped()).sized(120, 40);
    let effect = EffectId(30);
    let class = EffectClass::Read;
    let output = ToolOutput::of("41");
    stage.tell(ToolCallEvent::ToolCallFinished {
        effect: EffectRef::new(effect, class),
        output: output.into(),
    });
    stage.press("6 end e");
    assert!(stage.shows("╔ Edit the result of call 30"), "{}", stage.text());
    stage.write("0");
    let edit = Box::new(Edit::Result("041".into()));
    assert_eq!(command(&mut stage, "ctrl-s"), Command::EditCall { effect, edit, shown: true });
    assert_eq!(command(&mut stage, "r"), Command::RepeatCall { effect });
    stage.press("a");
    assert!(stage.shows("the call has ended"), "{}", stage.text());
    // The same in any pane; there a row is edited by the key that opens it.
    stage.press("3 e");
    assert!(stage.shows("╔ Edit the result of call 30"), "{}", stage.text());
    stage.press("esc 4 e");
    assert!(stage.shows("╔ Edit the result of call 30"), "{}", stage.text());
    assert_eq!(command(&mut stage, "esc r"), Command::RepeatCall { effect });
    stage.press("4 enter");
    assert!(stage.shows("╔ alpha"), "{}", stage.text());
}
