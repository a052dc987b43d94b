//! A sweep that is shared, hurried and cut short.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::program::{Home, Ran};

/// A sweep over as many values of alpha and seeds, by two strategies.
pub struct Swept {
    home: Home,
    arguments: Vec<String>,
}

impl Swept {
    pub fn new(values: usize, seeds: usize) -> Self {
        let over = format!("alpha=0..1/{values}");
        let seeds = seeds.to_string();
        let arguments = [
            "sweep",
            "--over",
            &over,
            "--over",
            "strategy=toolnet,react+btp",
            "--seeds",
            &seeds,
            "--tasks-limit",
            "4",
            "--fault",
            "search_web:error:p=0.3",
            "--costs",
            "1..10",
        ];
        Self { home: Home::new(), arguments: arguments.map(str::to_owned).to_vec() }
    }

    fn with<'a>(&'a self, folder: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let own = self.arguments.iter().map(String::as_str);
        own.chain(["--out", folder]).chain(more.iter().copied()).collect()
    }

    /// What it prints, and its CSV.
    pub fn table(&self, folder: &str, more: &[&str]) -> (String, String) {
        let ran = self.home.run(&self.with(folder, &[more, &["--csv", "s.csv"]].concat()));
        assert_eq!(ran.code, 0, "{ran:?}");
        (ran.out, self.home.read("s.csv"))
    }

    pub fn start(&self, folder: &str, more: &[&str]) -> Child {
        let mut command = self.home.command(&self.with(folder, more));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs all parts at the same time.
    pub fn in_parts(&self, folder: &str, parts: usize) {
        let shards: Vec<_> = (1..=parts).map(|part| format!("{part}/{parts}")).collect();
        let running: Vec<_> =
            shards.iter().map(|shard| self.start(folder, &["--shard", shard])).collect();
        for (child, shard) in running.into_iter().zip(&shards) {
            let ran = Ran::of(child.wait_with_output().unwrap());
            assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{shard}: {ran:?}");
            assert!(ran.err.contains(&format!("shard {shard} done")), "{ran:?}");
        }
    }

    /// Ends the sweep after so many milliseconds; true if it was still at work.
    pub fn cut(&self, folder: &str, after: u64, signal: Signal) -> bool {
        let mut child = self.start(folder, &[]);
        sleep(Duration::from_millis(after));
        let is_at_work = child.try_wait().unwrap().is_none();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        if is_at_work {
            kill_process(pid, signal).unwrap();
        }
        let ran = Ran::of(child.wait_with_output().unwrap());
        // At its very start nothing catches the signal yet, and nothing was written.
        if is_at_work && signal == Signal::INT && ran.code != -1 {
            assert!(ran.err.contains("run the same command again to continue from"), "{ran:?}");
        }
        is_at_work
    }

    /// The number of results in a folder.
    pub fn results(&self, folder: &str) -> usize {
        let files = std::fs::read_dir(self.home.path(folder)).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".json")).count()
    }

    /// The same answers with 1, 2 and 4 at once, in three parts of one folder, and after cuts at these milliseconds.
    pub fn has_the_same_answers(&self, cuts: &[u64]) {
        let whole = self.table("one", &["--jobs", "1"]);
        for jobs in ["2", "4"] {
            assert_eq!(self.table(jobs, &["--jobs", jobs]), whole, "{jobs} at once");
        }
        self.in_parts("parts", 3);
        assert_eq!(self.results("parts"), self.results("one"), "all is there");
        assert_eq!(self.table("parts", &[]), whole, "three parts");
        let mut hit = 0;
        for (n, after) in cuts.iter().enumerate() {
            let signal = if n % 2 == 0 { Signal::KILL } else { Signal::INT };
            hit += usize::from(self.cut("cut", *after, signal));
        }
        assert!(hit > 0, "it was always over before the cut");
        assert_eq!(self.table("cut", &[]), whole, "after {hit} cuts at {cuts:?} ms");
    }
}
