//! Programs outside of the screen: an editor, commands of the user, and what calls a person back.

use serde_json::Value;
use toolyard::ui::own::{OwnCommand, Shows};
use toolyard::ui::request::ScreenRequest;
use toolyard::ui::screen::Setup;
use toolyard::ui::{Called, keymap::Keymap};

use crate::program::Home;
use crate::sitting::{Sitting, assert_harmless};
use crate::stage::{Stage, setup};
use crate::story;

#[test]
fn a_call_is_copied_as_what_makes_it_again() {
    let mut stage = Stage::of(&story::demo());
    let called = |stage: &mut Stage, keys: &str| match stage.press(keys).as_slice() {
        [ScreenRequest::CopyCommand(called)] => (**called).clone(),
        other => panic!("{keys}: {other:?}\n{}", stage.text()),
    };
    match called(&mut stage, "6 home y c") {
        Called::Tool { tool, arguments, .. } => {
            assert_eq!(tool.as_str(), "wikipedia");
            assert!(arguments["query"].is_string(), "{arguments}");
        }
        other => panic!("{other:?}"),
    }
    let asked = stage.screen.live().model_calls.last().unwrap();
    let (n, request) = (asked.n, asked.request.clone());
    stage.press("2");
    stage.screen.view.line = Some(n);
    match called(&mut stage, "y c") {
        Called::Model { request: copied, .. } => assert_eq!(copied, request),
        other => panic!("{other:?}"),
    }
    assert_eq!(stage.press("7 y c"), []);
    assert!(stage.shows("is not a call; y y copies it"), "{}", stage.text());
}

fn own(key: Option<&str>, run: &str) -> OwnCommand {
    OwnCommand {
        name: "look".into(),
        doc: "look at it".into(),
        key: key.map(str::to_owned),
        run: run.into(),
        shows: Shows::Popup,
    }
}

#[test]
fn a_command_of_the_user_has_its_key_and_its_row_everywhere() {
    let commands = vec![own(Some("ctrl-x l"), "cat {text}"), own(None, "true")];
    let (keymap, wrong) = Keymap::with(&Default::default(), &commands);
    assert_eq!(wrong, []);
    let mut stage =
        Stage::with(&story::demo(), Setup { read_only: None, keymap, commands, ..setup() });
    let runs = |stage: &mut Stage, keys: &str| match stage.press(keys).as_slice() {
        [ScreenRequest::RunOwn(run)] => (**run).clone(),
        other => panic!("{keys}: {other:?}\n{}", stage.text()),
    };
    let (command, selection) = runs(&mut stage, "3 home ctrl-x l");
    assert_eq!(command.line(), "cat \"$TOOLYARD_TEXT\"");
    assert_eq!((selection.kind, selection.name.as_str()), ("tool", "search_backup"));
    let json: Value = serde_json::from_str(&selection.json).unwrap();
    assert!(
        json["spec"]["name"] == "search_backup" && selection.text.starts_with("Tool search_backup")
    );
    let (command, _) = runs(&mut stage, "O down enter");
    assert_eq!(command.run, "true");
    stage.press(":");
    stage.write("look at it");
    assert!(stage.shows("ctrl-x l"), "{}", stage.text());
    assert_eq!(runs(&mut stage, "enter").0.run, "cat {text}");
    // Where nothing is selected, it says so.
    assert_eq!(stage.press("4 ctrl-x l"), []);
    assert!(stage.shows("nothing to copy"), "{}", stage.text());
}

#[test]
fn the_editor_has_the_terminal_and_gives_it_back() {
    let home = Home::new();
    // A shell that reads can lose Ctrl-C just before it waits, so another program says that it is ready, and waits.
    let waits = r#"BEGIN { print \"READY\"; fflush(); getline x; print x > \"typed\" }"#;
    let editor =
        format!("sh -c 'head -1 \"$1\"; stat -c %a \"${{1%/*}}\"; exec awk \"{waits}\"' ed");
    let words = [env!("CARGO_BIN_EXE_toolyard"), "--no-journal", "--strategy", "toolnet"];
    let mut sitting = Sitting::of(&home, 120, 40, &words, &[("EDITOR", &editor)]);
    sitting.wait_header("PAUSED");
    sitting.press("3E");
    sitting.wait_until("the editor", |screen| {
        !screen.alternate_screen() && screen.contents().contains("READY")
    });
    assert!(sitting.text().contains("Tool calculator\n700"), "{}", sitting.text());
    sitting.press("hello q\r");
    sitting.wait_header("PAUSED");
    assert_eq!(home.read("typed"), "hello q\n");
    // Ctrl-C ends the editor, and not the screen.
    sitting.press("E");
    // The first editor's text is still on this screen.
    sitting.wait_until("the editor again", |screen| {
        !screen.alternate_screen() && screen.contents().matches("READY").count() == 2
    });
    sitting.press("\x03");
    sitting.wait_header("PAUSED");
    sitting.wait("the editor failed:");
    sitting.press("q");
    let (status, bytes) = sitting.end();
    assert_eq!(status.exit_code(), 0);
    assert_harmless(&bytes);
}

const COMMANDS: &str = r#"
[ui]
alerts = ["held"]
[ui.commands.name]
run = "printf '%s \\033[2J' {kind}-{name}; grep -o '\"description\":' {json} | head -1; cat > read.json"
key = "ctrl-x n"
[ui.commands.bad]
run = "echo it is late >&2; exit 3"
key = "ctrl-x b"
[ui.commands.ask]
run = "head -1 {text}; read answer; echo $answer > answer"
shows = "terminal"
"#;

#[test]
fn commands_run_beside_the_screen_or_in_the_terminal() {
    let home = Home::new();
    home.write("c.toml", COMMANDS);
    let arguments = ["--config", "c.toml", "--no-journal", "--strategy", "toolnet"];
    let mut sitting = Sitting::start(&home, 120, 40, &arguments);
    sitting.wait_header("PAUSED");
    sitting.press("3\x18n");
    sitting.wait("Output of name");
    sitting.wait("tool-calculator ␛[2J\"description\":");
    let read: Value = serde_json::from_str(&home.read("read.json")).unwrap();
    assert_eq!(read["spec"]["name"], "calculator");
    sitting.press("\x1b");
    sitting.wait_until("the output to close", |screen| !screen.contents().contains("Output of"));
    sitting.press("\x18b");
    sitting.wait("bad failed: ");
    sitting.wait("it is late");
    sitting.press("Oask\r");
    sitting.wait_until("the command", |screen| {
        !screen.alternate_screen() && screen.contents().contains("Tool calculator")
    });
    sitting.press("yes\r");
    sitting.wait_header("PAUSED");
    assert_eq!(home.read("answer"), "yes\n");
    // A pause rings the bell of a terminal at which nobody looks, and of no other.
    sitting.press(" ");
    sitting.wait_header("RUNNING");
    sitting.press(" ");
    sitting.wait_header("PAUSED");
    let before = sitting.bytes().matches('\x07').count();
    sitting.press(" ");
    sitting.wait_header("RUNNING");
    assert_eq!(sitting.bytes().matches('\x07').count(), before);
    sitting.press(" \x1b[O");
    sitting.wait_header("PAUSED");
    sitting.wait_for("the bell", || sitting.bytes().matches('\x07').count() > before);
    sitting.press("qy");
    let (status, _) = sitting.end();
    assert_eq!(status.exit_code(), 0);
}
