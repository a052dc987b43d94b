//! The tools by what they mean: the two directions in which their vectors differ most, with the text
//! by which tools were last looked for.

use ratatui::symbols::Marker;
use ratatui::text::{Line as TextLine, Span};
use ratatui::widgets::canvas::{Canvas, Line, Points};
use ratatui::{buffer::Buffer, layout::Rect, widgets::Widget};

use super::reading::about;
use super::row::note;
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::action::Action;
use crate::domain::{Finite, Ranking, State, ToolName};
use crate::hits::{Hits, Target};
use crate::symbols::{CHOSEN, CRITICAL};
use crate::text::clean;
use crate::vlist::List;
use crate::{cx::Cx, pane::PaneId, view::View};

/// How many of the best tools carry a letter.
const LETTERS: &str = "abcdefgh";
/// The share of the map that is left free around the outermost tools.
const MARGIN: f64 = 0.08;

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Map,
    when: |state, _| state.reader.is_some(),
    title: |cx| {
        let map = cx.state.reader.as_ref().and_then(|reader| reader.map.as_ref());
        TextLine::from(map.map_or_else(String::new, |map| {
            let shown = map.explained.into_iter().sum::<Finite<f32>>() * 100.0;
            format!(" {} tools · {shown:.0} % of the variance", map.tools.len())
        }))
    },
    draw,
    list,
    open: |_, _| Opened::Act(Action::InspectTool),
    keys: &[Action::Open],
    ..PLAIN
};

/// The tools of the last ranking, best first, or all of the map.
fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    super::reading::tools(state, view)
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let Some(reader) = &cx.state.reader else {
        return note(area, "no reader: set a model file in [reader]", cx.theme.dim, buf);
    };
    let Some(map) = &reader.map else {
        return note(area, &about(cx.state), cx.theme.dim, buf);
    };
    let ranking = cx.state.rankings().next().map(|(_, ranking)| ranking);
    let query = ranking.and_then(|ranking| ranking.place).map(wide);
    let places: Vec<(f64, f64)> = map.tools.iter().map(|(_, place)| wide(*place)).collect();
    let all = || places.iter().copied().chain(query);
    let [x, y] = [bounds(all().map(|place| place.0)), bounds(all().map(|place| place.1))];
    let best = ranking.map(|ranking| best(cx.state, ranking)).unwrap_or_default();
    let of = |tool: &ToolName| map.tools.iter().find(|(name, _)| name == tool);
    let dot = |style: ratatui::style::Style| style.fg.unwrap_or_default();
    let names = Rect { width: if best.is_empty() { 0 } else { area.width / 3 }, ..area };
    let area = Rect { x: names.right(), width: area.width - names.width, ..area };
    Canvas::default()
        .marker(Marker::Braille)
        .x_bounds(x)
        .y_bounds(y)
        .paint(|paint| {
            paint.draw(&Points { coords: &places, color: dot(cx.theme.dim) });
            for (tool, was) in &reader.moved {
                let Some((_, is)) = of(tool) else { continue };
                let ((x1, y1), (x2, y2)) = (wide(*was), wide(*is));
                paint.draw(&Line { x1, y1, x2, y2, color: dot(cx.theme.warn) });
                paint.print(x1, y1, Span::styled("○", cx.theme.warn));
            }
            if let Some(tool) = cx.view.tool.as_ref().and_then(of) {
                let (x, y) = wide(tool.1);
                let text = format!("{CHOSEN} {}", clean(tool.0.as_str()));
                paint.print(x, y, Span::styled(text, cx.theme.accent));
            }
            for (letter, tool) in LETTERS.chars().zip(&best) {
                let Some((_, place)) = of(tool) else { continue };
                let (x, y) = wide(*place);
                paint.print(x, y, Span::styled(letter.to_string(), cx.theme.good));
            }
            if let Some((x, y)) = query {
                paint.print(x, y, Span::styled(CRITICAL, cx.theme.accent));
            }
        })
        .render(area, buf);
    legend(cx, names, &best, buf, hits);
}

/// The names behind the letters.
fn legend(cx: &Cx<'_>, area: Rect, best: &[ToolName], buf: &mut Buffer, hits: &mut Hits) {
    let rows = usize::from(area.height).saturating_sub(2);
    for ((letter, tool), y) in LETTERS.chars().zip(best).take(rows).zip(area.y..) {
        let text = format!("{letter} {}", clean(tool.as_str()));
        let (end, _) = buf.set_stringn(area.x, y, &text, usize::from(area.width), cx.theme.good);
        let row = Rect { y, width: end - area.x, height: 1, ..area };
        hits.add(row, Target::Tool(tool.clone()));
    }
}

fn best(state: &State, ranking: &Ranking) -> Vec<ToolName> {
    let (retrieve, share) = state.knobs.retrieval();
    let ranked = ranking.ranked(retrieve, share).into_iter();
    ranked.take(LETTERS.len()).map(|tool| tool.tool.clone()).collect()
}

fn wide([x, y]: [Finite<f32>; 2]) -> (f64, f64) {
    (f64::from(x), f64::from(y))
}

fn bounds(numbers: impl Iterator<Item = f64>) -> [f64; 2] {
    let (least, most) =
        numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let margin = ((most - least) * MARGIN).max(1e-6);
    [least - margin, most + margin]
}
