//! Tools over HTTP on the screen: the request of a call, and why a tool is disabled.

use serde_json::json;
use toolyard::domain::http_request::Template;
use toolyard::domain::{HttpRequest, ToolSpec};
use toolyard::ui::pane::PaneId;
use toolyard::ui::popups::{Inspect, Subject};
use toolyard::ui::view::View;

use super::show;
use crate::stage::Stage;
use crate::story::{self, Story};

fn over_http(name: &str, disabled: Option<&str>) -> ToolSpec {
    let template = |text: &str| Template::parse(text).unwrap();
    let request = HttpRequest {
        method: "GET".into(),
        url: template("https://films.example/film/{id}"),
        query: vec![
            ("lang.code".into(), template("{lang}")),
            ("key".into(), template("${FILM_KEY}")),
        ],
        operation: "GET /film/{film-id}".into(),
        operation_id: "film".into(),
    };
    ToolSpec {
        request: Some(request.into()),
        disabled: disabled.map(str::to_owned),
        ..story::tool(name, "", 1.0)
    }
}

fn looked_at(story: &Story, subject: Subject) -> Stage {
    let mut stage = Stage::of(story);
    stage.screen.view.popups.push(Box::new(Inspect::new(subject)));
    stage.sized(120, 40)
}

#[test]
fn a_call_shows_its_request_without_a_secret() {
    let mut story = Story::open();
    story
        .join([over_http("film", None)])
        .queue(&[("Which film?", None)])
        .start(1)
        .step(1, 1, "start");
    let call = story.request_call(1, 1, "film", json!({ "id": "a/b", "lang": "de" }));
    let stage = looked_at(&story, Subject::Call(call));
    let line = "GET https://films.example/film/a%2Fb?lang.code=de&key=${FILM_KEY}";
    assert!(stage.shows(line), "{}", stage.text());
}

#[test]
fn a_disabled_tool_says_why_and_what_it_stands_for() {
    let mut story = Story::open();
    story.join([over_http("film", Some("no server was agreed to")), over_http("other", None)]);
    let stage = looked_at(&story, Subject::Tool("film".into()));
    for text in
        ["no server was agreed to", "lang.code={lang}&key=${FILM_KEY}", "GET /film/{film-id}"]
    {
        assert!(stage.shows(text), "{text}\n{}", stage.text());
    }
    let shown = show(PaneId::Tools, &story, &View::default(), 110, 10);
    assert!(shown.line("film").starts_with('⊘') && !shown.line("other").starts_with('⊘'));
}
