//! Files of textures whose reads end: a network that does not answer leaves a texture out, and hangs no render.

use crate::files::open_file;
use parking_lot::Mutex;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How long the system may take to answer, for all files of a render together.
#[derive(Debug)]
pub struct Patience {
    limit: Duration,
    /// Whether a question went unanswered before.
    was_exceeded: AtomicBool,
}

/// After a question that went unanswered, others get this part of the time: 1 / this. So the files of a dead disk do
/// not each take the whole time.
const SHORTER_PART: u32 = 8;

impl Patience {
    /// Returns the time that an answer may take.
    pub fn new(limit: Duration) -> Arc<Self> {
        Arc::new(Self { limit, was_exceeded: AtomicBool::new(false) })
    }

    fn time(&self) -> Duration {
        if self.was_exceeded.load(Ordering::Relaxed) { self.limit / SHORTER_PART } else { self.limit }
    }
}

/// An open file that gives up a read which the system does not answer for `patience`. What is in the system's memory is
/// read at once; all else by a thread of its own, which is left behind where it gets no answer.
#[derive(Clone, Debug)]
pub(super) struct PatientFile {
    file: Arc<File>,
    at: u64,
    patience: Arc<Patience>,
}

impl PatientFile {
    /// Opens a file.
    ///
    /// # Errors
    /// When the system says so, or does not answer ([`is_unanswered`]).
    pub(super) fn open(path: &Path, patience: &Arc<Patience>) -> io::Result<Self> {
        let path = path.to_owned();
        let file = answered(patience, move || open_file(&path))?;
        Ok(Self { file: Arc::new(file), at: 0, patience: Arc::clone(patience) })
    }

    /// Returns what the system knows of the file.
    ///
    /// # Errors
    /// As for [`Self::open`].
    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        let file = Arc::clone(&self.file);
        answered(&self.patience, move || file.metadata())
    }
}

impl Read for PatientFile {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let read = match read_at_hand(&self.file, self.at, out) {
            Some(read) => read,
            None => {
                let (file, at, bytes) = (Arc::clone(&self.file), self.at, out.len());
                let found = answered(&self.patience, move || read_at(&file, at, bytes))?;
                out[..found.len()].copy_from_slice(&found);
                found.len()
            }
        };
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for PatientFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.metadata()?.len().checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// Returns the answer to a question to the system, or an error where there is none for `patience`. Where the system has
/// no thread to give, the question is asked by this one.
pub(super) fn answered<T: Send + 'static>(
    patience: &Patience,
    ask: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let (sender, answer) = channel();
    let question = Arc::new(Mutex::new(Some(ask)));
    let asked = Arc::clone(&question);
    // If the answer comes too late, the receiver is gone.
    let answering = move || asked.lock().take().map(|ask| sender.send(ask()));
    if thread::Builder::new().name("texture file".into()).spawn(answering).is_err() {
        let ask = question.lock().take();
        return ask.map_or_else(|| Err(io::ErrorKind::Other.into()), |ask| ask());
    }
    let time = patience.time();
    answer.recv_timeout(time).unwrap_or_else(|error| match error {
        RecvTimeoutError::Timeout => {
            patience.was_exceeded.store(true, Ordering::Relaxed);
            Err(unanswered(time))
        }
        RecvTimeoutError::Disconnected => Err(io::Error::other("the thread that read it has ended")),
    })
}

fn unanswered(time: Duration) -> io::Error {
    let message = format!("the system has not answered for {} s", time.as_secs_f32());
    io::Error::new(io::ErrorKind::TimedOut, message)
}

/// Whether an error means that the system did not answer.
pub(super) fn is_unanswered(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut
}

/// Reads what the system has in memory; `None` if it would have to wait for it, or at the end of the file: Linux 5.9
/// and 5.10 say that also where there is more.
#[cfg(target_os = "linux")]
fn read_at_hand(file: &File, at: u64, out: &mut [u8]) -> Option<usize> {
    let mut parts = [io::IoSliceMut::new(out)];
    rustix::io::preadv2(file, &mut parts, at, rustix::io::ReadWriteFlags::NOWAIT).ok().filter(|&read| read > 0)
}

#[cfg(not(target_os = "linux"))]
fn read_at_hand(_: &File, _: u64, _: &mut [u8]) -> Option<usize> {
    None
}

fn read_at(file: &File, at: u64, bytes: usize) -> io::Result<Vec<u8>> {
    // The handle's own place in the file is nobody else's: readers take turns.
    let mut file = file;
    file.seek(SeekFrom::Start(at))?;
    let mut found = vec![0; bytes];
    let read = file.read(&mut found)?;
    found.truncate(read);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::error::TextureError;
    use std::time::Instant;

    #[test]
    fn what_is_read_is_what_is_written() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a");
        let bytes: Vec<u8> = (0..100_000u32).map(|number| (number % 251) as u8).collect();
        std::fs::write(&path, &bytes).expect("writable");
        let mut file = PatientFile::open(&path, &Patience::new(Duration::from_secs(60))).expect("it is there");
        assert_eq!(file.metadata().expect("it is open").len(), 100_000);
        let mut found = Vec::new();
        assert_eq!(file.read_to_end(&mut found).expect("readable"), 100_000);
        assert_eq!(found, bytes);
        // Where the system has it in memory or not, it is the same.
        assert_eq!(read_at(&file.file, 99_990, 20).expect("readable"), bytes[99_990..]);
        let mut three = [0; 3];
        for to in [SeekFrom::Start(5_000), SeekFrom::Current(-3), SeekFrom::End(-95_000)] {
            assert_eq!(file.seek(to).expect("inside of the file"), 5_000);
            file.read_exact(&mut three).expect("readable");
            assert_eq!(three, bytes[5_000..5_003]);
        }
        assert!(file.seek(SeekFrom::Current(-6_000)).is_err());
    }

    #[test]
    fn a_question_without_an_answer_is_given_up() {
        let (_sender, never) = channel::<()>();
        let began = Instant::now();
        let patience = Patience::new(Duration::from_millis(400));
        let asked = answered(&patience, move || never.recv().map_err(io::Error::other));
        let error = asked.expect_err("nobody answers");
        assert!(is_unanswered(&error) && began.elapsed() >= Duration::from_millis(400));
        assert_eq!(error.to_string(), "the system has not answered for 0.4 s");
        assert!(TextureError::of_io(Path::new("a.tex"), error).is_final(), "nothing more is read of the file");
        assert_eq!(patience.time(), Duration::from_millis(50), "of others less is expected");
        let missing = answered(&Patience::new(Duration::from_secs(60)), || File::open("/nonexistent/file"))
            .expect_err("no such file");
        assert!(!is_unanswered(&missing) && missing.kind() == io::ErrorKind::NotFound);
        let damaged = io::Error::other("a bad sector");
        assert!(!TextureError::of_io(Path::new("a.tex"), damaged).is_final(), "other tiles may be readable");
    }
}
