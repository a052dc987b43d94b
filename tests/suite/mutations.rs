//! Inputs changed in a few places: the same changes in every run.

use toolyard::domain::Chance;

/// What is put into an input: pieces that readers have gone wrong on.
const NASTY: [&[u8]; 24] = [
    b"\0",
    b"\x1b[2J",
    b"\x1b]0;t\x07",
    b"\r",
    b"\n\n",
    b"\r\n",
    b"\"",
    b"'",
    b"\\",
    b"\\u0000",
    b"{",
    b"}",
    b"[",
    b"]",
    b"#E1",
    b"```",
    b"null",
    b"-1",
    b"1e999",
    b"99999999999999999999",
    b"\xff\xfe",
    "\u{202e}".as_bytes(),
    "\u{feff}e\u{301}".as_bytes(),
    "漢字👩‍👩‍👧".as_bytes(),
];

/// Numbers without pattern, the same in every run.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, most: usize) -> usize {
        self.0 += 1;
        usize::try_from(Chance::new(self.0).bits() % (most.max(1) as u64)).unwrap()
    }

    /// One of the inputs, changed in one to four places.
    pub fn mutated(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = inputs[self.below(inputs.len())].clone();
        for _ in 0..=self.below(4) {
            let (from, to) = (self.below(bytes.len() + 1), self.below(bytes.len() + 1));
            let (from, to) = (from.min(to), from.max(to).min(from.min(to) + 40));
            match self.below(5) {
                0 => _ = bytes.drain(from..to),
                1 => bytes.truncate(to),
                2 => bytes
                    .splice(from..from, NASTY[self.below(NASTY.len())].iter().copied())
                    .for_each(drop),
                3 => {
                    let other = &inputs[self.below(inputs.len())];
                    let piece = other[self.below(other.len())..].iter().take(60).copied();
                    bytes.splice(from..to, piece).for_each(drop);
                }
                _ if from < bytes.len() => bytes[from] ^= 1 << self.below(8),
                _ => {}
            }
        }
        bytes
    }
}

/// Feeds a reader the inputs themselves, and mutations of them.
pub fn feed(read: fn(&[u8]), times: usize, inputs: impl IntoIterator<Item = impl Into<Vec<u8>>>) {
    let inputs: Vec<Vec<u8>> = inputs.into_iter().map(Into::into).collect();
    inputs.iter().for_each(|input| read(input));
    let mut numbers = Numbers(0);
    (0..times).for_each(|_| read(&numbers.mutated(&inputs)));
}
