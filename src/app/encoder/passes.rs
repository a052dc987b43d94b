//! Reads texts, on one thread or on several.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use super::tokens::tokens;
use crate::reader::{LocalReader, Reader, ReaderError, StateRequest, States};

/// Texts that a thread takes at once. Neighbours often have the same beginning, which is then read once.
const TOGETHER: usize = 4;

/// The result of reading one text.
pub struct Passed {
    /// Index of the text in the batch.
    pub text: usize,
    /// The states for each request of the batch.
    pub states: Vec<States>,
    pub tokens: u64,
    pub is_cut: bool,
}

/// A batch of texts to read, and the states wanted of each.
#[derive(Clone, Copy)]
pub struct TextBatch<'a> {
    pub texts: &'a [&'a str],
    pub wanted: &'a [StateRequest],
    pub cancelled: &'a AtomicBool,
}

impl TextBatch<'_> {
    fn pass(&self, reader: &mut LocalReader, text: usize) -> Result<Passed, ReaderError> {
        let cut = tokens(reader, self.texts[text])?;
        let ids = cut.tokens.and(reader.tokenizer().end()).ids;
        let states = reader.states(&ids, self.wanted, self.cancelled)?;
        Ok(Passed { text, states, tokens: ids.len() as u64, is_cut: cut.is_cut })
    }
}

/// Reads all texts, with their end tokens. Passes each result to `each` as soon as it is there; with several threads,
/// in any order.
///
/// # Errors
/// The first error of a text or of `each`; further texts are then not read.
pub fn read<E: From<ReaderError>>(
    reader: &mut LocalReader,
    threads: usize,
    reading: TextBatch<'_>,
    mut each: impl FnMut(Passed) -> Result<(), E>,
) -> Result<(), E> {
    let count = reading.texts.len();
    let threads = threads.min(count.div_ceil(TOGETHER));
    if threads <= 1 {
        return (0..count).try_for_each(|text| each(reading.pass(reader, text)?));
    }
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for mut own in (0..threads).map(|_| reader.clone()) {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || {
                loop {
                    let first = next.fetch_add(TOGETHER, Ordering::Relaxed);
                    for text in first..count.min(first.saturating_add(TOGETHER)) {
                        let passed = reading.pass(&mut own, text);
                        let failed = passed.is_err();
                        if sender.send(passed).is_err() || failed || stop.load(Ordering::Relaxed) {
                            return;
                        }
                    }
                    if first >= count {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut done = Ok(());
        for passed in receiver {
            // After an error, finished results are still passed on, so that no text is read twice.
            let given = passed.map_err(E::from).and_then(&mut each);
            if given.is_err() && done.is_ok() {
                done = given;
                stop.store(true, Ordering::Relaxed);
            }
        }
        done
    })
}
