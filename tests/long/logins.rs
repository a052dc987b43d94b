//! Claude Code and Codex with an account in place of a key, whose connections are opened: `tests/sdks/logins.py` runs them
//! against a provider of its own. `scripts/sdks.sh --all` installs them; without them this is skipped.

use std::path::Path;
use std::process::Command;

use crate::PROGRAM;

#[test]
fn agents_with_an_account_are_watched_and_their_tokens_are_in_no_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sdks = root.join("target/sdks");
    let node = sdks.join("frames-node/node_modules/.bin/node");
    let coding = sdks.join("coding");
    for needed in [&node, &coding.join("done")] {
        if !needed.exists() {
            return println!("SKIPPED: {} is not there; scripts/sdks.sh --all", needed.display());
        }
    }
    let mut command = Command::new("python3");
    command.arg(root.join("tests/sdks/logins.py")).arg(PROGRAM).args([coding, node]);
    let ran = command.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    println!("{said}{}", String::from_utf8_lossy(&ran.stderr));
    let failed: Vec<&str> = said.lines().filter(|line| line.starts_with("FAIL")).collect();
    assert!(ran.status.success() && failed.is_empty(), "{failed:#?}");
    assert!(said.lines().any(|line| line.starts_with("PASS")), "nothing was tried");
}
