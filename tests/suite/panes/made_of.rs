//! What a prompt is made of, in the pane of models and on its page.

use serde_json::json;
use toolyard::domain::{Message, tokens};
use toolyard::ui::pane::PaneId;
use toolyard::ui::popups::{Inspect, Subject};
use toolyard::ui::view::View;

use super::problems::ask;
use super::show;
use crate::watching::{answer, begin, call, listening, returned};

#[test]
fn a_prompt_says_what_it_is_made_of() {
    tokens::load();
    let mut story = listening();
    let task = begin(&mut story, 1, None, "How is Oslo?");
    let mut messages = vec![Message::system("You help."), Message::user("How is Oslo?")];
    let first = ask(&mut story, task, &["get_weather", "research"], messages.clone());
    answer(&mut story, first, "", &[("get_weather", json!({"city": "Oslo"}))], 100);
    let it = call(&mut story, task, 1, "get_weather", json!({"city": "Oslo"}));
    returned(&mut story, it, "rain", 10);
    messages.push(Message::result("1", "get_weather".into(), "rain and wind in the afternoon"));
    let second = ask(&mut story, task, &["get_weather", "research"], messages.clone());
    answer(&mut story, second, "Rain.", &[], 100);
    let shown = show(PaneId::Models, &story, &View::default(), 70, 20);
    let request = &story.state().model_call(second).unwrap().request;
    let total = tokens::count_request(request);
    let said = format!("what the last prompt was made of: {total} tok, 66 % cached");
    let head = shown.row(&said);
    let letters: String = shown.lines[head + 1].chars().filter(|c| c.is_alphabetic()).collect();
    assert_eq!(letters, "stpn", "the bar is readable without colour");
    assert!(shown.lines[head + 2].contains("▄ system"), "{}", shown.lines[head + 2]);
    assert!(shown.line("results").contains("6 new"), "{}", shown.line("results"));
    assert!(!shown.line("user").contains("new"));
    assert!(shown.row("get_weather") < shown.row("results"), "the largest first");
    let view = View { model_call: Some(first), ..View::default() };
    let earlier = show(PaneId::Models, &story, &view, 70, 20);
    assert!(earlier.has(&format!("what prompt #{first} was made of")));
    for height in 0..12 {
        show(PaneId::Models, &story, &View::default(), 30, height);
    }
    let page = Inspect::text(&Subject::Prompt(second), story.state(), &[], 90);
    for line in
        [&format!("Made of {total} tokens by o200k"), "2 tools", "  get_weather ", "results"]
    {
        assert!(page.contains(line), "{line}\n{page}");
    }
    assert!(page.contains("6 tokens of messages since the request before"), "{page}");
}
