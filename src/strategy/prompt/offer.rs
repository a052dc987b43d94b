//! The end of the actor's prompt, which changes with each step: the tools that may be called now, the state of the
//! budget, and a note.

use super::{ActorInput, budget, weight_format};
use crate::domain::markers::{FINISH, MORE};
use crate::domain::{InTask, MenuItem, MenuReason, Prompt, ToolName, WeightFormat};
use crate::menu;

/// The paragraphs: the callable tools, the plan and the budget, and the note. `is_all`: every tool that the request
/// defines may be called. `names`: the callable tools.
pub(super) fn paragraphs(
    state: &InTask<'_>,
    asked: &ActorInput<'_>,
    names: &[ToolName],
    is_all: bool,
) -> Vec<String> {
    let ActorInput { menu, note, .. } = *asked;
    let format = weight_format(state);
    let mut items: Vec<_> = menu.iter().map(|item| offer(item, format)).collect();
    let marked = items.iter().zip(names).any(|(item, name)| *item != name.as_str());
    items.extend(names.iter().skip(menu.len()).map(ToString::to_string));
    let tools = [("{tools}", &*items.join(", "))];
    let offer = (!is_all || marked).then(|| state.prompts.filled(Prompt::ActorOffer, &tools));
    let strategy = state.current_task().and_then(|task| task.strategy);
    let told = strategy.is_some_and(|strategy| strategy.prompt);
    let grows = strategy.is_some_and(|strategy| menu::grows(state, strategy.base));
    let lack = grows.then(|| state.prompts.text(Prompt::ActorLack).to_owned());
    let costs = told.then(|| budget::told(state, menu));
    let forbidden = budget::forbidden(state, menu).trim().to_owned();
    let all =
        offer.into_iter().chain([forbidden]).chain(lack).chain(costs).chain([note.to_owned()]);
    all.filter(|text| !text.is_empty()).collect()
}

/// The names of the callable tools, as a request has them: the menu, and whether the agent may read on.
pub(super) fn names(menu: &[MenuItem], more: bool) -> Vec<ToolName> {
    let name = |item: &MenuItem| match item.why {
        MenuReason::Finish => FINISH.into(),
        _ => item.tool.clone(),
    };
    menu.iter().map(name).chain(more.then(|| MORE.into())).collect()
}

/// `search_web (weight 37)`, `lookup (new here)`, or the name alone.
fn offer(item: &MenuItem, format: WeightFormat) -> String {
    match (item.why, item.weight) {
        // Finishing is always useful, so it has no weight (ToolNet's prompt).
        (MenuReason::Finish, _) => FINISH.to_owned(),
        (MenuReason::Explore, _) => format!("{} (new here)", item.tool),
        (_, Some(weight)) if format != WeightFormat::None => {
            format!("{} (weight {})", item.tool, format.show(*weight))
        }
        _ => item.tool.to_string(),
    }
}
