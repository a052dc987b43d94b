//! The packages of a release as people install them: from files, in a home of their own, without a compiler and without a
//! network. `TOOLYARD_PACKAGES` names their folder, which `.ci/packages` makes; without it these tests are skipped.
//! `scripts/sdks.sh` installs uv, twine and a second Node.js.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use rustix::process::Signal;
use serde_json::Value;

use crate::program::{Home, Ran};
use crate::runs::kills::after::expect_no_process;
use crate::sitting::Sitting;

/// How often a launcher is ended in each way.
const TIMES: usize = 50;
/// The most bytes of a wheel or an npm package. The archive has manual pages and completions, too.
const LARGEST: u64 = 20_000_000;
/// The newest version of glibc whose symbols the program may need: 2.17.
const NEWEST: u32 = 17;
/// Runs a program without any network but the machine's own.
const ALONE: &str = r#"ip link set lo up && exec "$@""#;

/// The folder of packages, and the programs that install them.
struct Packages {
    folder: PathBuf,
    tools: PathBuf,
}

impl Packages {
    /// The packages; `None`, after a word about it, if no folder is named.
    fn new() -> Option<Self> {
        let Some(folder) = env::var_os("TOOLYARD_PACKAGES").map(PathBuf::from) else {
            println!("SKIPPED: TOOLYARD_PACKAGES names no folder of packages");
            return None;
        };
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        Some(Self { folder: root.join(folder), tools: root.join("target/sdks") })
    }

    /// The paths of the packages whose names begin and end so.
    fn all(&self, begin: &str, end: &str) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).unwrap().map(|entry| entry.unwrap().path());
        let names = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with(begin) && name.ends_with(end)
        };
        entries.filter(names).map(|path| path.display().to_string()).collect()
    }

    /// The path of the only package whose name begins and ends so.
    fn one(&self, begin: &str, end: &str) -> String {
        let [path] = self.all(begin, end).try_into().unwrap_or_else(|all| panic!("{all:?}"));
        path
    }

    /// A program that installs packages; `None`, after a word about it, if it is not there.
    fn tool(&self, path: &str) -> Option<String> {
        let tool = self.tools.join(path);
        if !tool.exists() {
            println!("SKIPPED: {path} is not there; scripts/sdks.sh installs it");
            return None;
        }
        Some(tool.display().to_string())
    }
}

/// The words before a command that close the network to it.
fn alone() -> &'static [&'static str] {
    let words = &["unshare", "-rn", "sh", "-c", ALONE, "sh"];
    let works = Command::new(words[0]).args(&words[1..]).arg("true").status();
    if works.is_ok_and(|status| status.success()) {
        return words;
    }
    println!("SKIPPED: the network cannot be closed here");
    &[]
}

/// Runs a command to its success, without a network.
fn succeed(home: &Home, words: &[&str]) -> Ran {
    let words = [alone(), words].concat();
    let ran = Ran::of(home.command_of(Path::new(words[0]), &words[1..]).output().unwrap());
    assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
    ran
}

/// The program is the packaged one, and shows a demo to its end.
fn expect_to_work(home: &Home, words: &[&str]) {
    let about = succeed(home, &[words, &["--version", "--json"]].concat());
    let about: Value = serde_json::from_str(&about.out).unwrap();
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
    let words = [alone(), words, &["demo", "watch", "--speed", "16"]].concat();
    let mut sitting = Sitting::of(home, 120, 40, &words, &[]);
    sitting.wait("8 of 8 questions answered");
    sitting.wait("the tour has ended");
    sitting.press("q");
    let (status, _) = sitting.end();
    assert_eq!(status.exit_code(), 0, "{words:?}");
    expect_no_process(home);
}

/// Ended in any way, the program leaves no process, and the terminal as it was.
fn expect_to_end(home: &Home, words: &[&str]) {
    let start = || {
        let sitting =
            Sitting::of(home, 100, 30, &[words, &["--no-journal", "--fresh"]].concat(), &[]);
        sitting.wait_header("PAUSED");
        sitting
    };
    for _ in 0..TIMES {
        for (keys, signal) in [("\x03", None), ("", Some(Signal::TERM)), ("", Some(Signal::HUP))] {
            let mut sitting = start();
            sitting.press(keys);
            signal.into_iter().for_each(|signal| sitting.kill(signal));
            sitting.end();
            expect_no_process(home);
        }
        stop_and_go_on(home, words);
        // Nobody can give the terminal of a killed launcher back but the program.
        let sitting = start();
        sitting.kill(Signal::KILL);
        expect_no_process(home);
        drop(sitting);
        // A terminal that is closed.
        drop(start());
        expect_no_process(home);
    }
}

fn stop_and_go_on(home: &Home, words: &[&str]) {
    let mut shell = Sitting::of(home, 100, 30, &["sh", "-i"], &[("PS1", "ready> ")]);
    let prompt = |shell: &Sitting| {
        shell.wait_until("the shell", |screen| {
            !screen.alternate_screen() && screen.contents().trim_end().ends_with("ready>")
        });
    };
    prompt(&shell);
    shell.press(&format!("{} --no-journal --fresh\r", words.join(" ")));
    shell.wait_header("PAUSED");
    shell.press("\x1a");
    prompt(&shell);
    shell.press("fg\r");
    shell.wait_header("PAUSED");
    shell.press("q");
    prompt(&shell);
    shell.press("exit\r");
    shell.end();
    expect_no_process(home);
}

#[test]
fn the_packages_agree_and_are_small() {
    let Some(packages) = Packages::new() else { return };
    let version = env!("CARGO_PKG_VERSION");
    let sums = fs::read_to_string(packages.folder.join("SHA256SUMS")).unwrap();
    let mut check = Command::new("sha256sum");
    check.args(["--check", "--quiet", "SHA256SUMS"]).current_dir(&packages.folder);
    assert!(check.status().unwrap().success());
    assert_eq!(sums.lines().count(), 4, "{sums}");
    for line in sums.lines() {
        let (_, name) = line.split_once("  ").unwrap();
        assert!(name.contains(&format!("-{version}")), "{name}");
        let bytes = fs::metadata(packages.folder.join(name)).unwrap().len();
        println!("{name}: {:.1} MB", bytes as f64 / 1e6);
        assert!(bytes <= LARGEST || name.ends_with(".tar.gz"), "{name}: {bytes} bytes");
    }
    let folder = Home::new();
    let archive = packages.one("toolyard-", ".tar.gz");
    succeed(&folder, &["tar", "-xzf", &archive, "--strip-components=1"]);
    for name in [
        "LICENSE",
        "README.md",
        "THIRD-PARTY.txt",
        "man/toolyard-watch.1",
        "completions/toolyard.zsh",
    ] {
        assert!(folder.path(name).exists(), "{name}");
    }
    let program = fs::read(folder.path("toolyard")).unwrap();
    println!("the program: {:.1} MB", program.len() as f64 / 1e6);
    let needed = program.windows(8).enumerate().filter(|(_, at)| at == b"GLIBC_2.");
    let digits =
        |at: usize| program[at + 8..].iter().map_while(|byte| char::from(*byte).to_digit(10));
    let newest = needed.map(|(at, _)| digits(at).fold(0, |all, digit| all * 10 + digit)).max();
    println!("the newest symbols are of glibc 2.{}", newest.unwrap_or(0));
    assert!(newest.is_none_or(|newest| newest <= NEWEST), "{newest:?}");
}

#[test]
fn pip_and_uv_install_the_wheel() {
    let Some(packages) = Packages::new() else { return };
    let wheel = packages.one("toolyard-", ".whl");
    if let Some(twine) = packages.tool("packaging/bin/twine") {
        let checked = succeed(&Home::new(), &[&twine, "check", "--strict", &wheel]);
        assert!(checked.out.contains("PASSED"), "{checked:?}");
    }
    let home = Home::new();
    succeed(&home, &["python3", "-m", "venv", "pip"]);
    let pip = home.path("pip/bin/pip").display().to_string();
    succeed(&home, &[&pip, "install", "--no-index", "--disable-pip-version-check", &wheel]);
    let program = home.path("pip/bin/toolyard").display().to_string();
    expect_to_work(&home, &[&program]);
    expect_to_end(&home, &[&program]);
    if let Some(uvx) = packages.tool("packaging/bin/uvx") {
        let home = Home::new();
        expect_to_work(&home, &[&uvx, "--offline", "--no-index", "--from", &wheel, "toolyard"]);
    }
}

#[test]
fn npm_installs_the_packages() {
    let Some(packages) = Packages::new() else { return };
    let home = Home::new();
    let all = packages.all("toolyard-", ".tgz");
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    succeed(
        &home,
        &[&["npm", "install", "--offline", "--no-audit", "--no-fund"], &all[..]].concat(),
    );
    let launcher = home.path("node_modules/.bin/toolyard").display().to_string();
    // Newer versions let the program take the place of the launcher.
    let newer = packages.tool("conformance/node_modules/node/bin/node");
    for node in [Some("node".to_owned()), newer].into_iter().flatten() {
        expect_to_work(&home, &[&node, &launcher]);
        expect_to_end(&home, &[&node, &launcher]);
    }
    fs::remove_dir_all(home.path("node_modules/@toolyard")).unwrap();
    let ran = Ran::of(home.command_of(Path::new("node"), &[&launcher]).output().unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("is not installed; install toolyard again"), "{ran:?}");
}
