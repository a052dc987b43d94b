//! A record that plays shows at each moment what the same moment shows when a person goes there.

use std::time::{Duration, Instant};

use toolyard::domain::State;
use toolyard::store::journal::Marker;
use toolyard::ui::screen::Screen;

use crate::program::Home;
use crate::stage::{Stage, setup};

/// The most moments of one play that are compared.
const MOMENTS: usize = 100;

/// A replay of this journal.
fn replay(home: &Home) -> Stage {
    let mut marker = Marker::open(&home.path("j.jsonl.zst"), u64::MAX).unwrap();
    let mut screen = Screen::new(setup());
    screen.begin(marker.state().clone(), marker.past());
    while let Some(record) = marker.read().unwrap() {
        screen.receive(record);
    }
    screen.view.told = false;
    Stage::showing(screen).sized(120, 40)
}

/// The first line of the screen, and the state that all panes draw. Where their lists are scrolled to is a person's.
fn shown(stage: &mut Stage) -> (String, State) {
    stage.draw();
    (stage.text().lines().next().unwrap().to_owned(), stage.screen.shown().clone())
}

/// Goes to this event, by keys.
fn go(stage: &mut Stage, n: u64) {
    let digits: Vec<_> = n.to_string().chars().map(String::from).collect();
    stage.press(&format!(": {} enter", digits.join(" ")));
}

#[test]
fn playing_and_scrubbing_show_the_same_screen_at_the_same_event() {
    let home = Home::new();
    let run = ["run", "--strategy", "toolnet", "--tasks-limit", "12", "--fresh"];
    home.run(
        &[&run[..], &["--fault", "search_web:error:from-task=3", "--journal", "j.jsonl.zst"]]
            .concat(),
    );
    let mut compared = 0;
    for faster in [0, 4] {
        let (mut played, mut scrubbed) = (replay(&home), replay(&home));
        (0..faster).for_each(|_| drop(played.press("c )")));
        let last = played.screen.live().n;
        played.press("c .");
        assert_eq!(played.screen.view.moment, Some(1));
        let (mut now, mut seed, mut visited) = (Instant::now(), 11_u64, Vec::new());
        while played.screen.beat(now).is_some() {
            let n = played.screen.view.moment.unwrap();
            if visited.last() != Some(&n) && visited.len() < MOMENTS {
                visited.push(n);
                let play = std::mem::take(&mut played.screen.view.play);
                let in_play = shown(&mut played);
                played.screen.view.play = play;
                // From somewhere else, so that nothing is left of the moment before.
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                go(&mut scrubbed, 1 + (seed >> 33) % last);
                go(&mut scrubbed, n);
                assert!(in_play == shown(&mut scrubbed), "event {n}");
            }
            // As the keyboard and the clock wake the screen: at any time.
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            now += Duration::from_micros((seed >> 40) % (1_000 >> faster));
        }
        assert_eq!((played.screen.view.moment, played.screen.view.play.is_on()), (None, false));
        assert!(visited.is_sorted() && visited.len() > 20, "{visited:?}");
        compared += visited.len();
    }
    eprintln!("{compared} moments of a play and of scrubbing are the same");
}
