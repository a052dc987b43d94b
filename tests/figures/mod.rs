//! The numbers of pages, as a list has them: what prints each, or where it is set.

pub mod frameworks;

use std::collections::BTreeMap;
use std::{fs, path::Path};

use regex::Regex;
use serde::Deserialize;

use crate::program::Home;

/// The whole list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    pub page: Vec<Page>,
}

/// The numbers of a page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    pub file: String,
    /// Texts with numbers that nothing prints: versions, tables of papers, sizes of screens.
    #[serde(default)]
    pub names: Vec<String>,
    #[serde(default)]
    pub setting: Vec<Setting>,
    #[serde(default)]
    pub figure: Vec<Figure>,
}

/// Numbers that a file of the project sets.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// As the page says it.
    pub says: String,
    pub file: String,
    /// Texts of that file.
    pub has: Vec<String>,
}

/// Numbers that a command prints.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// As the page says it.
    pub says: String,
    /// A line of shell.
    pub command: String,
    /// Where each number of `says` is printed: `TABLE / ROW / COLUMN`, `LINE / NUMBER OF THE NUMBER`, or `-` for one that
    /// the command is told.
    pub prints: Vec<String>,
    /// Whether the command takes minutes.
    #[serde(default)]
    pub is_long: bool,
    /// A folder outside of the project that the command reads as `$DATA`.
    pub needs: Option<String>,
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

impl List {
    pub fn read() -> Self {
        toml::from_str(&fs::read_to_string(root().join(crate::FIGURES)).unwrap()).unwrap()
    }

    /// The figures of all pages by their commands.
    pub fn by_command(&self, is_long: bool) -> BTreeMap<&str, Vec<(&str, &Figure)>> {
        let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for page in &self.page {
            for figure in page.figure.iter().filter(|figure| figure.is_long == is_long) {
                all.entry(figure.command.as_str()).or_default().push((page.file.as_str(), figure));
            }
        }
        all
    }
}

/// The numbers of a text, as they are written.
pub fn numbers(text: &str) -> Vec<&str> {
    let number = Regex::new(r"\d[\d,]*(\.\d+)?").unwrap();
    number.find_iter(text).map(|found| found.as_str().trim_end_matches(',')).collect()
}

impl Figure {
    /// What the page says otherwise than the command has printed.
    pub fn faults(&self, printed: &str) -> Vec<String> {
        let said = numbers(&self.says);
        if said.len() != self.prints.len() {
            return vec![format!("{} numbers, but {} places", said.len(), self.prints.len())];
        }
        let pairs = said.into_iter().zip(&self.prints).filter(|(_, place)| *place != "-");
        let fault = |(said, place): (&str, &String)| {
            let Some(real) = find(printed, place) else { return Some(format!("no {place}")) };
            let decimals = said.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            let shown = format!("{real:.decimals$}");
            (shown != said.replace(',', ""))
                .then(|| format!("{place}: it says {said}, {real} is printed"))
        };
        pairs.filter_map(fault).collect()
    }
}

/// The number at this place of what a command printed.
fn find(printed: &str, place: &str) -> Option<f64> {
    let parts: Vec<&str> = place.split(" / ").collect();
    let text = match parts.as_slice() {
        [table, row, column] => {
            let mut lines = printed.lines().skip_while(|line| !line.starts_with(table)).skip(1);
            let head = lines.next()?;
            let line = lines
                .take_while(|line| !line.is_empty())
                .find(|line| line.strip_prefix(row).is_some_and(|rest| rest.starts_with("  ")))?;
            // Columns end where their heads do.
            let end = head.find(&format!("  {column}"))? + 2 + column.len();
            let cell: String = line.chars().take(head[..end].chars().count()).collect();
            cell.rsplit("  ").next()?.to_owned()
        }
        [line, number] => {
            let line = printed.lines().find(|text| text.starts_with(line))?;
            (*numbers(line).get(number.parse::<usize>().ok()?)?).to_owned()
        }
        _ => return None,
    };
    text.trim().replace(',', "").parse().ok()
}

/// The words of a page: without code, keys, addresses of links, and the numbers of lists and exit codes.
fn prose(page: &str) -> String {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let mut text = text;
    for part in [
        r"(?s)<!-- keys.*?<!-- end of keys -->",
        r"(?s)<!-- frameworks.*?<!-- end of frameworks -->",
        r"(?s)```.*?```",
        r"`[^`]*`",
        r"<kbd>.*?</kbd>",
        r"\]\([^)]*\)",
        r"(?m)^ *\d+\. ",
        r"(?m)^\| \d+ \|",
    ] {
        text = Regex::new(part).unwrap().replace_all(&text, " ").into_owned();
    }
    words(&text)
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text as [`prose`] has it.
fn plain(text: &str) -> String {
    words(&Regex::new(r"`[^`]*`").unwrap().replace_all(text, " "))
}

/// What these pages say otherwise than the list, and their numbers that it lacks.
pub fn unlisted(list: &List, files: &[String]) -> Vec<String> {
    let number = Regex::new(r".{0,30}\d.{0,30}").unwrap();
    let mut faults = Vec::new();
    for file in files {
        let mut prose = prose(file);
        for page in list.page.iter().filter(|page| page.file == *file) {
            let figures = page.figure.iter().map(|figure| {
                println!("{file}: {} <- {}", figure.says, figure.command);
                &figure.says
            });
            let settings = page.setting.iter().map(|setting| {
                println!("{file}: {} <- {}", setting.says, setting.file);
                &setting.says
            });
            for says in figures.chain(settings).chain(&page.names) {
                let says = plain(says);
                if !prose.contains(&says) {
                    faults.push(format!("{file} does not say: {says}"));
                }
                prose = prose.replace(&says, " … ");
            }
        }
        for found in number.find_iter(&prose) {
            faults.push(format!("{file}: not in {}: {}", crate::FIGURES, found.as_str()));
        }
    }
    faults
}

/// Settings of the list that their files do not have.
pub fn unset(list: &List) -> Vec<String> {
    let mut faults = Vec::new();
    for page in &list.page {
        for setting in &page.setting {
            let text = fs::read_to_string(root().join(&setting.file)).unwrap();
            let missing = setting.has.iter().filter(|has| !text.contains(*has));
            faults
                .extend(missing.map(|has| format!("{}: {} has no {has}", page.file, setting.file)));
        }
    }
    faults
}

/// Runs these commands and compares; panics with all faults.
pub fn check(is_long: bool) {
    let list = List::read();
    let mut faults = Vec::new();
    for (command, figures) in list.by_command(is_long) {
        let needs = figures.iter().find_map(|(_, figure)| figure.needs.as_ref());
        let data = needs.map(|needs| root().join(needs));
        if let Some(data) = data.as_ref().filter(|data| !data.exists()) {
            eprintln!("SKIPPED: {command}: needs {}", data.display());
            continue;
        }
        let given = data.map(|data| format!("DATA='{}'; ", data.display()));
        let ran = Home::new().shell(&(given.unwrap_or_default() + command));
        // 1: not every task was answered.
        assert!(ran.code <= 1, "{command}: {ran:?}");
        let printed = ran.out;
        for (page, figure) in figures {
            let found = figure.faults(&printed);
            faults.extend(found.into_iter().map(|fault| format!("{page}: {fault} ({command})")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
