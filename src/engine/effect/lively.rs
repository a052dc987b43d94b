//! Time that sample tools and the simulated model take on the screen, so that a person sees calls run side by side. The
//! knob `speed` sets how fast it passes; if it is off, they answer at once.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::domain::{Chance, Speed};
use crate::handle::Handle;

/// The shortest and the longest answer of a tool and of a model, in seconds at the speed of 1.
const TOOL: (f64, f64) = (0.2, 1.5);
const MODEL: (f64, f64) = (0.2, 0.6);
/// The part of a tool's time that is its own; the rest differs from call to call.
const OWN: f64 = 0.7;
/// How soon a change of the speed is noticed.
const NOTICE: Duration = Duration::from_millis(100);

/// Waits as long as this sample tool takes for this call.
pub async fn tool(handle: &Handle, name: &str, call: Chance) {
    wait(handle, within(TOOL, share(name, call))).await;
}

/// The position of this call's time between the shortest and the longest, from 0 to 1.
fn share(name: &str, call: Chance) -> f64 {
    let own = Chance::new(0).with(name.as_bytes()).unit();
    OWN * own + (1.0 - OWN) * call.with(b"time").unit()
}

/// Waits as long as the simulated model takes for this call.
pub async fn model(handle: &Handle, call: Chance) {
    wait(handle, within(MODEL, call.with(b"time").unit())).await;
}

fn within((least, most): (f64, f64), share: f64) -> f64 {
    least + share * (most - least)
}

/// Waits for this many seconds at the speed of 1, scaled by the current value of the knob.
async fn wait(handle: &Handle, seconds: f64) {
    let mut left = seconds;
    while left > 0.0 {
        let speed = handle.read(|session| session.state().knobs.choice::<Speed>()).factor();
        let Some(speed) = speed else { return };
        let begun = Instant::now();
        sleep(Duration::from_secs_f64(left / speed).min(NOTICE)).await;
        left -= begun.elapsed().as_secs_f64() * speed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_takes_its_own_time_within_the_bounds() {
        let shares = |name: &str| -> Vec<f64> {
            (0..1000).map(|seed| share(name, Chance::new(seed))).collect()
        };
        for name in ["search_web", "calculator", "weather"] {
            let own = OWN * Chance::new(0).with(name.as_bytes()).unit();
            let shares = shares(name);
            let (least, most) = (own, own + 1.0 - OWN);
            assert!(shares.iter().all(|share| (least..=most).contains(share)), "{shares:?}");
            let mean = shares.iter().sum::<f64>() / 1000.0;
            assert!((mean - (least + most) / 2.0).abs() < 0.02, "{mean}");
        }
        assert_ne!(shares("search_web"), shares("calculator"));
        for (share, seconds) in [(0.0, 0.2), (0.5, 0.85), (1.0, 1.5)] {
            assert!((within(TOOL, share) - seconds).abs() < 1e-9);
        }
    }
}
