//! What frameworks do behind toolyard, as `tests/data/frameworks.txt` keeps it and the guide tells it.

use std::fs;

use super::root;

/// A framework with its version, its wires, and how many paths have a yes in each column, of how many.
type Tried<'a> = (String, Vec<&'a str>, [[usize; 2]; 6]);

/// The table of the guide: of each framework, how many of its paths have a yes.
pub fn for_the_guide() -> Vec<String> {
    let expected = fs::read_to_string(root().join("tests/data/frameworks.txt")).unwrap();
    let mut of_each: Vec<Tried<'_>> = Vec::new();
    for line in expected.lines() {
        let [path, version, words] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let [name, wire, _] = path.split(", ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        let name = format!("{name} {version}");
        if of_each.last().is_none_or(|(last, ..)| *last != name) {
            of_each.push((name, Vec::new(), [[0; 2]; 6]));
        }
        let (_, wires, counts) = of_each.last_mut().unwrap();
        if !wires.contains(&wire) {
            wires.push(wire);
        }
        for (word, count) in words.split(' ').zip(counts) {
            count[0] += usize::from(word == "yes");
            count[1] += usize::from(word != "-");
        }
    }
    let line = |(name, wires, counts): Tried<'_>| {
        let cells = counts.map(|[yes, all]| match all {
            0 => "–".to_owned(),
            _ => format!("{yes}/{all}"),
        });
        format!("| {name} | {} | {} |", wires.join(", "), cells.join(" | "))
    };
    of_each.into_iter().map(line).collect()
}
