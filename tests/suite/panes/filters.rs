//! What a filter leaves of each list.

use toolyard::ui::needle::Needle;
use toolyard::ui::pane_search::PaneSearch;
use toolyard::ui::{pane::PaneId, panes, view::View};

use super::show;
use crate::{spending, story, working};

#[test]
fn filtered_lists_look_like_this() {
    let (demo, btp, working) = (story::demo(), spending::btp(), working::working());
    let cases = [
        (PaneId::Graph, &demo, "c r"),
        (PaneId::Tools, &demo, "search"),
        (PaneId::Knobs, &demo, "weight"),
        (PaneId::Models, &demo, "l"),
        (PaneId::Calls, &working, "web"),
        (PaneId::Tasks, &demo, "WRONG"),
        (PaneId::Budget, &btp, "search"),
    ];
    let mut all = String::new();
    for (pane, story, needle) in cases {
        let find = Some(PaneSearch::new(pane, Needle::new(needle)));
        let mut view = View { find, ..View::default() };
        panes::look_up(story.state(), &mut view);
        let count = view.found(pane).unwrap().count();
        let lines = show(pane, story, &view, 76, 16).lines;
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
        all.push_str(&format!("{}: {needle}, {count}\n{}\n", pane.name(), lines.join("\n")));
    }
    insta::assert_snapshot!(all);
}
