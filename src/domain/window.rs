//! Fitting of a request to the context window of its model: first the oldest results are shortened, then the oldest
//! steps are dropped. The system text, the task, and the last step with its results stay as they are, as does a plan.

use std::{fmt, ops::Range};

use serde::{Deserialize, Serialize};

use super::chat::{Message, Request};
use super::excerpt::{self, is_long};
use super::markers::TASK;
use super::messages::Messages;
use super::words::counted;

/// Characters that are kept of a shortened result.
const KEPT: usize = 200;
/// Shorter results stay: the line about the omitted rest would be as long.
const SHORT: usize = 400;
/// Most tokens that are reserved for an answer without a limit of its own.
const ANSWER: u64 = 4096;

/// Parts of a request that were left out so that it fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Results of earlier steps that were shortened.
    pub results: u32,
    /// Oldest steps that were dropped, with their results.
    pub steps: u32,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let results = counted(self.results, "result");
        let steps = counted(self.steps, "step");
        match (self.results, self.steps) {
            (_, 0) => write!(f, "{results} shortened"),
            (0, _) => write!(f, "{steps} dropped"),
            _ => write!(f, "{results} shortened, {steps} dropped"),
        }
    }
}

/// The most tokens of a request to a model with this context window; the rest is reserved for its answer.
pub fn limit(window: u64, request: &Request) -> u64 {
    let answer = match request.max_tokens {
        Some(most) => u64::from(most).min(window / 2),
        None => ANSWER.min(window / 8),
    };
    window - answer
}

/// The request, with as little left out as makes it fit, or with all left out that may be. `None` if it stays as it is.
/// `count` counts the tokens of a request.
pub fn fitted(request: &Request, limit: u64, count: impl Fn(&Request) -> u64) -> Option<Request> {
    if count(request) <= limit {
        return None;
    }
    let (task, steps) = steps(&request.messages)?;
    let (_, earlier) = steps.split_last()?;
    let mut fitted = request.clone();
    let mut left = LeftOut::default();
    for at in earlier.iter().flat_map(Range::clone) {
        let Message::Tool { text, .. } = &fitted.messages[at] else { continue };
        if !is_long(text, SHORT) {
            continue;
        }
        let Message::Tool { text, .. } = &mut fitted.messages[at] else { continue };
        *text = excerpt::beginning(text, KEPT, None).into_owned();
        left.results += 1;
        fitted.left_out = Some(left);
        if count(&fitted) <= limit {
            return Some(fitted);
        }
    }
    let whole = fitted.clone();
    for step in earlier {
        left.steps += 1;
        let gone = steps[0].start..step.end;
        left.results = shortened(request, &whole, step.end);
        fitted.messages = whole.messages.clone();
        fitted.messages.remove(gone);
        if let Message::User { text, .. } = &mut fitted.messages[task] {
            *text = format!("{text}\n\n[{}]", said(left.steps));
        }
        fitted.left_out = Some(left);
        if count(&fitted) <= limit {
            break;
        }
    }
    fitted.left_out.map(|_| fitted)
}

/// The number of results from this message on that were shortened.
fn shortened(request: &Request, fitted: &Request, from: usize) -> u32 {
    let pairs = request.messages.iter().zip(&fitted.messages).skip(from);
    pairs.map(|(before, after)| u32::from(before != after)).sum()
}

/// Returns the text that the model reads in place of dropped steps.
fn said(steps: u32) -> String {
    let which = match steps {
        1 => "oldest step was".to_owned(),
        _ => format!("{steps} oldest steps were"),
    };
    format!("The {which} left out to fit the context window.")
}

/// The place of the task, and the steps after it: each a message of the agent with all that
/// answers it. Examples come before the task.
fn steps(messages: &Messages) -> Option<(usize, Vec<Range<usize>>)> {
    let is_task =
        |message: &Message| matches!(message, Message::User { text, .. } if text.starts_with(TASK));
    let task = (0..messages.len()).rev().find(|at| is_task(&messages[*at]))?;
    let is_step = |at: &usize| matches!(messages[*at], Message::Assistant { .. });
    let starts: Vec<usize> = (task + 1..messages.len()).filter(is_step).collect();
    let ends = starts.iter().skip(1).copied().chain([messages.len()]);
    Some((task, starts.iter().zip(ends).map(|(start, end)| *start..end).collect()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::chat::{Role, ToolCall};

    /// A step with results of these lengths; none: it made no call.
    fn step(results: &[usize]) -> Vec<Message> {
        let id = |n: usize| format!("c{n}");
        let calls = (0..results.len()).map(|n| ToolCall {
            id: id(n),
            tool: "echo".into(),
            arguments: json!({}),
        });
        let (text, calls, source) = ("I call.".into(), calls.collect(), None);
        let mut messages = vec![Message::Assistant { text, calls, source }];
        messages.extend(
            results
                .iter()
                .enumerate()
                .map(|(n, length)| Message::result(id(n), "echo".into(), "x".repeat(*length))),
        );
        if results.is_empty() {
            messages.push(Message::user("Go on."));
        }
        messages
    }

    fn request(examples: usize, steps: &[Vec<usize>]) -> Request {
        let mut messages = vec![Message::system("Solve it.")];
        for _ in 0..examples {
            messages.push(Message::user(format!("{TASK}an example")));
            messages.push(Message::assistant("42"));
        }
        messages.push(Message::user(format!("{TASK}Say hello.")));
        messages.extend(steps.iter().flat_map(|results| step(results)));
        Request::new(Role::Actor, messages)
    }

    fn length(request: &Request) -> u64 {
        request.messages.iter().map(|message| message.text().len() as u64 + 5).sum()
    }

    fn left(results: u32, steps: u32) -> Option<LeftOut> {
        Some(LeftOut { results, steps })
    }

    #[test]
    fn what_was_left_out_is_told_as_far_as_there_is_any() {
        let told = |results, steps| LeftOut { results, steps }.to_string();
        assert_eq!(told(2, 0), "2 results shortened");
        assert_eq!(told(0, 1), "1 step dropped");
        assert_eq!(told(1, 2), "1 result shortened, 2 steps dropped");
    }

    #[test]
    fn results_go_first_and_then_steps_the_oldest_before_the_others() {
        let whole = request(1, &[vec![1000, 30], vec![1000], vec![1000]]);
        let fit = |limit| fitted(&whole, limit, length);
        let all = length(&whole);
        assert_eq!(fit(all), None);
        let one = fit(all - 1).unwrap();
        assert_eq!(one.left_out, left(1, 0));
        assert_eq!(
            one.messages[5].text(),
            format!("{}\n[… 800 of 1,000 characters left out.]", "x".repeat(200))
        );
        let two = fit(length(&one) - 1).unwrap();
        assert_eq!((two.left_out, two.messages.len()), (left(2, 0), whole.messages.len()));
        let three = fit(length(&two) - 1).unwrap();
        assert_eq!(three.left_out, left(1, 1));
        let task = "Task: Say hello.\n\n[The oldest step was left out to fit the context window.]";
        assert_eq!(three.messages[3].text(), task);
        assert!(three.messages.iter().take(3).eq(whole.messages.iter().take(3)));
        let last = fit(1).unwrap();
        assert_eq!((last.left_out, last.messages.len()), (left(0, 2), 6));
        assert!(last.messages.iter_from(4).eq(whole.messages.iter_from(9)));
    }

    #[test]
    fn a_request_without_earlier_steps_stays() {
        for steps in [&[][..], &[vec![1000]]] {
            assert_eq!(fitted(&request(0, steps), 10, length), None);
        }
        let other = Request::new(Role::Classifier, vec![Message::user("Classes: many")]);
        assert_eq!(fitted(&other, 1, length), None);
    }

    #[test]
    fn the_rest_of_the_window_is_for_the_answer() {
        let mut request = request(0, &[]);
        assert_eq!((limit(8000, &request), limit(128_000, &request)), (7000, 123_904));
        request.max_tokens = Some(500);
        assert_eq!((limit(8000, &request), limit(600, &request)), (7500, 300));
    }

    proptest! {
        #[test]
        fn what_must_stay_stays_and_the_rest_fits(
            examples in 0usize..3,
            steps in prop::collection::vec(prop::collection::vec(0usize..2000, 0..4), 1..7),
            share in 0.0f64..1.2,
        ) {
            let whole = request(examples, &steps);
            let limit = (length(&whole) as f64 * share) as u64;
            let Some(less) = fitted(&whole, limit, length) else {
                let reducible = steps.len() > 1;
                prop_assert!(length(&whole) <= limit || !reducible);
                return Ok(());
            };
            prop_assert!(length(&whole) > limit);
            let head = 2 * examples + 1;
            let dropped = less.left_out.unwrap().steps as usize;
            prop_assert!(less.messages.iter().take(head).eq(whole.messages.iter().take(head)));
            prop_assert!(less.messages[head].text().starts_with(whole.messages[head].text()));
            // The rest is the end of the original, with shorter texts before the last step.
            let kept: Vec<_> = less.messages.iter_from(head + 1).collect();
            let gone = whole.messages.len() - kept.len();
            prop_assert_eq!(gone, head + 1 + steps[..dropped].iter().map(|s| step(s).len()).sum::<usize>());
            let last = step(&steps[steps.len() - 1]).len();
            let whole_end = whole.messages.iter_from(whole.messages.len() - last);
            prop_assert!(kept[kept.len() - last..].iter().copied().eq(whole_end));
            let mut changed = 0;
            for (now, before) in kept.iter().copied().zip(whole.messages.iter_from(gone)) {
                changed += u32::from(now != before);
                prop_assert!(now.text().len() <= before.text().len());
                prop_assert_eq!(std::mem::discriminant(now), std::mem::discriminant(before));
            }
            prop_assert_eq!(changed, less.left_out.unwrap().results);
            // Nothing more can be left out, or it fits.
            prop_assert!(length(&less) <= limit || dropped == steps.len() - 1);
        }
    }
}
