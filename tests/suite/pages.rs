//! Pages say what is true: each command of a page runs, with the exit code and the output that the page shows. Pages are
//! written like this:
//!
//! - `console` blocks: `$ ` begins a command. The lines below it are in its output, in this order; `…` is text left
//!   out. A command succeeds, unless `$ echo $?` shows another exit code below it.
//! - `sh` blocks: each line is a command whose output is not shown.
//! - A block that begins with `# FILE` is written to that file.
//! - A command that opens the screen gets a terminal. The lines below it are on the screen; then `q` quits.
//!
//! The commands of a page run in order, in a home of their own with a copy of `examples`.

use std::path::Path;
use std::process::Command;

use crate::markdown;
use crate::program::{Home, text};
use crate::sitting::Sitting;

/// A command, and what a page shows of its output.
struct Step<'a> {
    command: &'a str,
    shown: Vec<&'a str>,
    code: i32,
}

impl<'a> Step<'a> {
    fn new(command: &'a str) -> Self {
        Self { command, shown: Vec::new(), code: 0 }
    }

    fn run(&self, home: &Home) {
        if self.opens_the_screen() {
            return self.sit(home);
        }
        let ran = home.shell(&format!("{{ {}\n}} 2>&1", self.command));
        assert_eq!(ran.code, self.code, "$ {}\n{}", self.command, ran.out);
        let mut real = ran.out.lines();
        for shown in self.shown.iter().filter(|shown| **shown != "…") {
            let found = real.any(|line| shows(shown, line));
            assert!(found, "$ {}\nno longer prints\n{shown}\nin\n{}", self.command, ran.out);
        }
    }

    fn opens_the_screen(&self) -> bool {
        // Variables may stand before the program.
        let mut words = self.command.split_whitespace().skip_while(|word| word.contains('='));
        match (words.next(), words.next()) {
            (Some("toolyard"), None) => true,
            (Some("toolyard"), Some("replay" | "follow")) => !self.command.contains("--json"),
            (Some("toolyard"), Some("watch")) => !self.command.contains("--headless"),
            (Some("toolyard"), Some(word)) => word.starts_with(['-', '"']) && word != "--help",
            _ => false,
        }
    }

    fn sit(&self, home: &Home) {
        let mut sitting = Sitting::of(home, 120, 40, &["sh", "-c", self.command], &[]);
        for shown in self.shown.iter().chain(&["1 Graph"]) {
            sitting.wait_for(shown, || sitting.text().lines().any(|line| shows(shown, line)));
        }
        sitting.press("q");
        let (status, _) = sitting.end();
        assert_eq!(status.exit_code(), 0, "$ {}", self.command);
    }
}

/// Whether a line of the output has all parts of a line of the page, in order.
fn shows(shown: &str, real: &str) -> bool {
    let mut rest = real;
    shown.split('…').map(str::trim).all(|part| {
        let after = rest.split_once(part).map(|(_, after)| after);
        rest = after.unwrap_or_default();
        after.is_some()
    })
}

/// The commands of a `console` block.
fn session(block: &str) -> Vec<Step<'_>> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_code = false;
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some("echo $?") => is_code = true,
            Some(command) => steps.push(Step::new(command)),
            None => {
                let last = steps.last_mut().expect("a console block begins with a command");
                if std::mem::take(&mut is_code) {
                    last.code = line.parse().expect("an exit code");
                } else {
                    last.shown.push(line);
                }
            }
        }
    }
    steps
}

/// Does everything that a page says, in a home that may have something already.
pub fn follow(home: &Home, examples: &Path, page: &str) {
    let copied = Command::new("cp").args(["-R", text(examples), text(&home.path(""))]).status();
    assert!(copied.unwrap().success());
    let mut commands = 0;
    for (language, block) in markdown::blocks(page) {
        let steps: Vec<Step> = match language {
            "console" => session(block),
            "sh" => block.lines().filter(|line| !line.starts_with('#')).map(Step::new).collect(),
            _ => {
                let first = block.lines().next().unwrap_or_default();
                if let Some(file) = first.strip_prefix("# ") {
                    home.write(file, format!("{block}\n"));
                }
                continue;
            }
        };
        for step in steps {
            step.run(home);
            commands += 1;
        }
    }
    assert!(commands > 0, "the page has no command");
}
