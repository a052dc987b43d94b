//! The time that sample tools and the simulated model take.

use std::time::Duration;

use toolyard::app::session::SessionSpec;
use toolyard::domain::{Command, EffectId, Knob, Speed, State};

use super::effects::{demo, run};
use super::yard::{Trial, on_paused_time};

fn knob(speed: Speed) -> (Knob, f64) {
    (Knob::Speed, f64::from(speed as u8))
}

/// Milliseconds that each model call took.
fn asked(state: &State) -> Vec<f64> {
    let took = |from: Option<u64>, to: Option<u64>| (to.unwrap() - from.unwrap()) as f64 / 1e3;
    state.model_calls.iter().map(|call| took(call.started, call.ended)).collect()
}

#[test]
fn the_simulated_model_takes_its_time_at_the_speed_of_the_knob() {
    on_paused_time(async {
        let at = async |speed: Speed| {
            let trial = Trial { knobs: vec![knob(speed)], ..Trial::default() };
            asked(&trial.start().session.await.unwrap())
        };
        let normal = at(Speed::Normal).await;
        assert!(normal.iter().all(|ms| (200.0..=602.0).contains(ms)), "{normal:?}");
        for (speed, factor) in
            [(Speed::Quarter, 0.25), (Speed::Half, 0.5), (Speed::Double, 2.0), (Speed::Four, 4.0)]
        {
            let took = at(speed).await;
            assert_eq!(took.len(), normal.len());
            for (ms, normal) in took.iter().zip(&normal) {
                assert!((ms * factor - normal).abs() < 2.0 * factor.max(1.0), "{ms} {normal}");
            }
        }
        assert!(at(Speed::Off).await.iter().all(|ms| *ms == 0.0), "at once");
    });
}

#[test]
fn a_call_under_way_follows_the_knob() {
    for (speed, most) in [(Speed::Sixteen, 435.0), (Speed::Off, 400.0)] {
        on_paused_time(async move {
            let yard = Trial { knobs: vec![knob(Speed::Quarter)], ..Trial::default() }.start();
            yard.until("it is asked", |state| !state.model_calls.is_empty()).await;
            tokio::time::sleep(Duration::from_millis(310)).await;
            let (knob, value) = knob(speed);
            yard.wish(Command::TurnKnob { knob, value });
            let state = yard.session.await.unwrap();
            let first = asked(&state)[0];
            assert!((310.0..=most).contains(&first), "{first}");
            assert_eq!(state.model_calls[0].id, EffectId(1));
        });
    }
}

#[test]
fn sample_tools_take_their_time_too() {
    let took = |speed: Speed| {
        let mut all = Vec::new();
        on_paused_time(async {
            let knobs = [knob(speed)].into();
            let spec = SessionSpec { tasks_limit: Some(3), knobs, ..SessionSpec::default() };
            let (_, state) = run(demo(spec), &[]).await;
            let calls =
                state.tool_calls.iter().filter_map(|call| Some((call.started?, call.ended?)));
            all.extend(calls.map(|(from, to)| (to - from) / 1000));
        });
        all
    };
    let (normal, off) = (took(Speed::Normal), took(Speed::Off));
    assert!(normal.len() >= 3 && normal.iter().all(|ms| (200..=1502).contains(ms)), "{normal:?}");
    assert!(off.iter().all(|ms| *ms < 200), "{off:?}");
}
