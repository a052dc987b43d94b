//! `toolyard-lab bench papers` has a line for each table and figure.

use crate::program::Home;

#[test]
fn every_table_and_figure_has_a_line() {
    let ran = Home::new().run(&["bench", "papers", "--seeds", "0", "--tasks-limit", "2"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let said: Vec<_> = ran.out.lines().filter_map(|line| line.split(" (").next()).collect();
    let cotools = ["Table 3", "Table 4", "Figures 4 to 6", "Figure 7", "Section 4.3.4"];
    let cotools = cotools.map(|part| format!("CoTools, {part}"));
    let (said, last) = said.split_at(said.len().saturating_sub(cotools.len()));
    assert_eq!(last, cotools);
    let skipped = ran.out.lines().filter(|line| line.contains("SKIPPED, no model file"));
    assert_eq!(skipped.count(), 4, "what needs a model file says that it is left out: {}", ran.out);
    let of = |paper: &'static str, parts: [&'static str; 2]| {
        let [tables, figures] = parts.map(|numbers| numbers.chars().collect::<Vec<_>>());
        let tables = tables.into_iter().map(move |n| format!("{paper}, Table {n}"));
        tables.chain(figures.into_iter().map(move |n| format!("{paper}, Figure {n}")))
    };
    let expected = of("BTP", ["2345", ""])
        .chain(["Plans", "Agents", "Parts"].map(|name| format!("BTP, {name}")))
        .chain(of("BTP", ["", "23"]))
        .chain(of("ToolNet", ["345", "34"]))
        .chain(["Agents", "Sizes"].map(|name| format!("ToolNet, {name}")));
    let atc: Vec<_> = of("ATC", ["145", "57"]).collect();
    let (said, programs) = said.split_at(said.len().saturating_sub(atc.len()));
    assert_eq!(programs, atc);
    let [lines @ .., one, other, cache, baselines, pairs] = said else { panic!("{said:?}") };
    assert_eq!(lines, expected.collect::<Vec<_>>());
    for without_feedback in [one, other] {
        assert!(without_feedback.starts_with("ToolNet, Reflexion: "), "{without_feedback}");
    }
    assert!(cache.starts_with("ToolNet, Prompt cache: "), "{cache}");
    assert_eq!(*baselines, "Concurrent workers, Table 3 and Figure 2");
    assert_eq!(*pairs, "Concurrent workers, Table 4 and Figure 3");
}
