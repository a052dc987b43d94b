//! The first keys of a newcomer on the plain program, at the usual speed.

use std::thread;
use std::time::Duration;

use crate::program::Home;
use crate::sitting::Sitting;

/// From the first frame to the verdict, which has to be final soon.
const SOON: Duration = Duration::from_secs(60);

fn to_the_verdict(columns: u16, rows: u16) {
    let home = Home::new();
    let mut sitting = Sitting::start(&home, columns, rows, &[]);
    sitting.wait("Your agent, as it is");
    for key in [" ", "f", "0"] {
        sitting.press(key);
    }
    sitting.wait("search_web (most used) fails from task 6");
    let is_final = || {
        let text = sitting.text();
        let is_told =
            ["Recovered after ", "Not recovered: "].iter().any(|told| text.contains(told));
        is_told && text.contains("search_web")
    };
    sitting.wait_within(SOON, "a final verdict", is_final);
    assert!(!sitting.text().contains("Run them again"), "{}", sitting.text());
    sitting.press("q");
    sitting.wait("Quit while");
    sitting.press("y");
    let (status, _) = sitting.end();
    assert_eq!(status.exit_code(), 0);
}

#[test]
fn three_keys_on_the_plain_program_lead_to_a_final_verdict() {
    let sizes = [(80, 24), (120, 40)];
    let all = sizes.map(|(columns, rows)| thread::spawn(move || to_the_verdict(columns, rows)));
    for one in all {
        one.join().unwrap();
    }
}
