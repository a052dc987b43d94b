//! Standard input and output as streams of lines. Each has a thread that waits for it, since waiting without a thread
//! would change it for other programs that have it open.

use std::io::{self, Read};
use std::thread;

use tokio::sync::{mpsc, oneshot};

use crate::mcp::relay::{LinePiece, Splitter};
use crate::shell::out::pass;
use crate::shell::trouble::Trouble;

/// Bytes that are read at once.
const READ: usize = 64 << 10;

/// The end of the output.
pub struct OutputEnd(oneshot::Receiver<()>);

impl OutputEnd {
    /// Waits until all output is written, or its reader has gone.
    pub async fn wait(self) {
        // The thread drops the sender.
        let _ = self.0.await;
    }
}

/// Lines of standard input, the sender of lines for standard output, and the end of that output.
pub type Streams = (mpsc::Receiver<LinePiece>, mpsc::Sender<Vec<u8>>, OutputEnd);

/// Opens the channels for standard input and standard output. Each closes when its other end does.
///
/// # Errors
/// The system has no thread.
pub fn open() -> Result<Streams, Trouble> {
    // Each channel holds one line while another one is passed on.
    let (give, read) = mpsc::channel(1);
    let (write, mut given) = mpsc::channel::<Vec<u8>>(1);
    let (end, written) = oneshot::channel::<()>();
    let named = |name: &str| thread::Builder::new().name(name.to_owned());
    named("client-in").spawn(move || read_into(&give)).map_err(Trouble::failed)?;
    let writing = move || {
        let _end = end;
        while let Some(line) = given.blocking_recv() {
            if pass(&line).is_err() {
                return;
            }
        }
    };
    named("client-out").spawn(writing).map_err(Trouble::failed)?;
    Ok((read, write, OutputEnd(written)))
}

fn read_into(give: &mpsc::Sender<LinePiece>) {
    let (mut input, mut bytes) = (io::stdin().lock(), vec![0; READ]);
    let (mut splitter, mut is_read) = (Splitter::default(), true);
    loop {
        match input.read(&mut bytes) {
            Ok(0) => break,
            Ok(n) => splitter.take(&bytes[..n], |piece| {
                is_read &= give.blocking_send(piece).is_ok();
            }),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
        if !is_read {
            return;
        }
    }
    let _ = splitter.rest().map(|rest| give.blocking_send(rest));
}
