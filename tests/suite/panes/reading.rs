//! What a reader says of a text and of the tools.

use std::sync::Arc;

use toolyard::domain::{
    EffectId, EmbeddingEvent, Finish, JudgedPiece, ModelCallEvent, Ranking, ReaderAbout,
    ReaderEvent, Reply, Role, TaskId, Usage,
};
use toolyard::ui::pane::PaneId;
use toolyard::ui::view::View;

use super::show;
use crate::story::{Story, effect, tool};

const TOOLS: [&str; 4] = ["calculator", "currency_converter", "search_web", "weather"];

/// A text was written up to a call, and the tools were ranked for it.
pub fn read() -> Story {
    let mut story = Story::opened("cotools", Default::default());
    story.join(TOOLS.map(|name| tool(name, "", 1.0)));
    let reader = ReaderAbout {
        model: "SmolLM2-135M".to_owned(),
        states: "layer 14 mean".to_owned(),
        heads: vec!["STQuestions, 2556 examples".to_owned()],
        judge: Some("GSM8K-XL, 200 examples".to_owned()),
    };
    story.tell(ReaderEvent::HeadsLoaded { reader });
    story.tell(ReaderEvent::ToolEncoded { encoded: 3, tools: 4 });
    story.queue(&[("How many euros are 17 times 23 dollars?", None)]).start(1);
    let ask = story.ask(1, Role::Actor);
    let pieces = [("17 * 23", 0.01), (" =", 0.62), (" dollars", 0.3), (" in euros =", 0.97)];
    let text: String = pieces.iter().map(|(piece, _)| *piece).collect();
    let mut end = 0;
    let pieces = pieces.map(|(piece, p)| {
        end += piece.len();
        JudgedPiece { end, p: p.into() }
    });
    story.tell(ReaderEvent::TokenJudged { effect: effect(ask), pieces: pieces.to_vec() });
    let reply = Reply { finish: Finish::Judged, ..Reply::of_text(text) };
    story.tell(ModelCallEvent::ModelCallFinished {
        effect: effect(ask),
        reply: Arc::new(reply),
        dollars: None,
    });
    let (task, id) = (TaskId(1), EffectId(2));
    let (model, text) = ("SmolLM2-135M".to_owned(), "dollars in euros =".to_owned());
    story.tell(EmbeddingEvent::EmbeddingRequested { effect: effect(id), task, model, text });
    story.tell(EmbeddingEvent::EmbeddingStarted { effect: effect(id) });
    let scored = [(0.4, 1.1), (1.5, 0.2), (-0.9, -0.3)].map(|(z, words)| (Some(z), words));
    let scored = TOOLS.into_iter().zip(scored.into_iter().chain([(None, -1.0)]));
    let scored = scored.map(|(tool, (states, words))| (tool.into(), states, words));
    let ranking = Ranking::of(37, 0.3, scored);
    story.tell(EmbeddingEvent::EmbeddingFinished {
        effect: effect(id),
        usage: Usage::default(),
        dollars: Some(0.0.into()),
        vector: vec![],
        ranking: Some(Arc::new(ranking)),
    });
    story
}

#[test]
fn a_text_has_its_probabilities_and_its_tools_their_places() {
    let shown = show(PaneId::Reading, &read(), &View::default(), 90, 12);
    insta::assert_snapshot!(shown.lines.join("\n"));
}
