//! Programs that make RIB: those that `Procedural "RunProgram"` asks again and again, and those whose output is read as
//! an archive (`|command`). They run only if the user allows it.
//!
//! A program has three threads beside it, so that neither one that reads nothing nor one that writes without end can
//! block the reader: requests wait in a channel, and output is taken only as fast as it is wanted.

#[cfg(target_os = "linux")]
use super::descendants::ProgramMark;
use super::lexer::{Lexer, LineMark, TokenKind};
use super::source::Source;
use crate::host_memory::HostMemory;
use crate::progress::Interrupt;
use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use parking_lot::Mutex;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes of output that are taken at once, and how many such pieces wait.
const PIECE_BYTES: usize = 64 << 10;
const PIECES_WAITING: usize = 4;

/// How often an interrupt is looked for.
const POLL: Duration = Duration::from_millis(50);

/// How long a program may take to end by itself when nothing more is asked of it.
const FAREWELL: Duration = Duration::from_millis(500);

/// The last bytes of a program's error output that messages quote.
const LAST_WORDS_BYTES: usize = 400;

/// The byte that ends an answer.
const END_OF_ANSWER: u8 = 0xff;

/// How an answer ended.
#[derive(Debug)]
pub(crate) enum AnswerEnd {
    /// With the byte 0377; the program waits for the next request.
    Marked,
    /// With the program, which ended with this status.
    Ended(Option<ExitStatus>),
    /// It did not end in time.
    Late,
    /// It does not fit in memory.
    TooLong,
    /// The user interrupted the render.
    Interrupted,
}

/// A program that runs.
pub(crate) struct RunningProgram {
    child: Child,
    #[cfg(target_os = "linux")]
    mark: ProgramMark,
    requests: Option<Sender<Vec<u8>>>,
    output: Receiver<Vec<u8>>,
    last_words: Arc<Mutex<Vec<u8>>>,
    /// Without a sender once the error output has ended; nothing is sent.
    errors_end: Receiver<()>,
}

impl RunningProgram {
    /// Starts a program.
    pub(crate) fn start(mut command: Command) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A terminal's signals are for this process alone, which decides what they mean for it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        #[cfg(target_os = "linux")]
        let mut mark = ProgramMark::on(&mut command);
        let mut child = command.spawn()?;
        #[cfg(target_os = "linux")]
        mark.started(&child);
        let (requests, waiting) = unbounded::<Vec<u8>>();
        let (pieces, output) = bounded(PIECES_WAITING);
        let last_words = Arc::new(Mutex::new(Vec::new()));
        let (errors_open, errors_end) = bounded::<()>(0);
        if let Some(mut stdin) = child.stdin.take() {
            std::thread::spawn(move || {
                for request in waiting {
                    // A program that closed its input is noticed by its answer.
                    if stdin.write_all(&request).and_then(|()| stdin.flush()).is_err() {
                        return;
                    }
                }
            });
        }
        if let Some(stdout) = child.stdout.take() {
            std::thread::spawn(move || pass_on(stdout, |piece| pieces.send(piece.to_vec()).is_ok()));
        }
        if let Some(stderr) = child.stderr.take() {
            let kept = Arc::clone(&last_words);
            std::thread::spawn(move || {
                pass_on(stderr, |piece| {
                    let mut kept = kept.lock();
                    kept.extend_from_slice(piece);
                    let surplus = kept.len().saturating_sub(LAST_WORDS_BYTES);
                    kept.drain(..surplus);
                    true
                });
                drop(errors_open);
            });
        }
        Ok(Self {
            child,
            #[cfg(target_os = "linux")]
            mark,
            requests: Some(requests),
            output,
            last_words,
            errors_end,
        })
    }

    /// Sends a request.
    pub(crate) fn ask(&self, request: Vec<u8>) {
        if let Some(requests) = &self.requests {
            // A program that has ended is noticed by its answer.
            let _ = requests.send(request);
        }
    }

    /// Ends the program's input.
    pub(crate) fn ask_no_more(&mut self) {
        self.requests = None;
    }

    /// Takes an answer, without what ends it.
    pub(crate) fn answer(
        &mut self,
        name: &str,
        memory: &Arc<HostMemory>,
        time: Duration,
        interrupt: &Interrupt,
    ) -> (Source, AnswerEnd) {
        let mut deadline = Instant::now() + time;
        let mut answer = Arc::new(Source::empty(name, memory));
        #[cfg(target_os = "linux")]
        self.mark.reap();
        let end = loop {
            if interrupt.is_raised() {
                break AnswerEnd::Interrupted;
            }
            match self.output.recv_timeout(POLL) {
                Ok(piece) => {
                    let appending = Instant::now();
                    let kept = Arc::get_mut(&mut answer).is_some_and(|answer| answer.append(&piece));
                    // It may have waited for memory of worlds that are drawn.
                    deadline += appending.elapsed();
                    if !kept {
                        break AnswerEnd::TooLong;
                    }
                    if let Some(end) = end_of(&answer) {
                        if let Some(answer) = Arc::get_mut(&mut answer) {
                            answer.bytes.truncate(end);
                        }
                        break AnswerEnd::Marked;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break AnswerEnd::Ended(self.status()),
            }
            if Instant::now() >= deadline {
                break AnswerEnd::Late;
            }
        };
        (Arc::into_inner(answer).unwrap_or_else(|| Source::empty(name, memory)), end)
    }

    /// Returns what it wrote last to its error output, which may end a little after the program does.
    pub(crate) fn last_words(&self) -> String {
        let _ = self.errors_end.recv_timeout(FAREWELL);
        String::from_utf8_lossy(&self.last_words.lock()).trim().to_owned()
    }

    /// Returns the status of a program whose output has ended, if it ends soon.
    fn status(&mut self) -> Option<ExitStatus> {
        let deadline = Instant::now() + FAREWELL;
        loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
                Ok(status) => return status,
                Err(_) => return None,
            }
        }
    }

    /// Ends the program and what it has started, at once.
    pub(crate) fn kill(&mut self) {
        let has_ended = !matches!(self.child.try_wait(), Ok(None));
        #[cfg(target_os = "linux")]
        self.mark.kill_all(has_ended);
        if !has_ended {
            // It may just have ended by itself.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Drop for RunningProgram {
    /// Also ends what a program has left running that ended by itself.
    fn drop(&mut self) {
        self.ask_no_more();
        let _ = self.status();
        self.kill();
    }
}

/// Reads a pipe to its end, as long as `take` wants more.
fn pass_on(mut pipe: impl Read, mut take: impl FnMut(&[u8]) -> bool) {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match pipe.read(&mut piece) {
            Ok(0) => return,
            Ok(length) if take(&piece[..length]) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// Returns where an answer ends, once it is whole: at 0377, unless that belongs to a token of the binary encoding.
/// White space may follow.
fn end_of(answer: &Arc<Source>) -> Option<usize> {
    let end = answer.bytes.iter().rposition(|byte| !byte.is_ascii_whitespace())?;
    if answer.bytes[end] != END_OF_ANSWER {
        return None;
    }
    // Text is whole even if a string in it is not.
    if answer.bytes[..end].is_ascii() {
        return Some(end);
    }
    let mut lexer = Lexer::new(answer, 0..answer.bytes.len(), LineMark::START);
    loop {
        lexer.skip_to_request();
        match lexer.peek() {
            TokenKind::Word => drop(lexer.word()),
            TokenKind::Binary => lexer.skip_byte(),
            _ => break,
        }
    }
    (answer.bytes.get(lexer.position()) == Some(&END_OF_ANSWER)).then(|| lexer.position())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(bytes: &[u8]) -> Option<usize> {
        end_of(&Arc::new(Source::of_test(bytes)))
    }

    /// Helpers that lost their parent are adopted, and nobody else takes their status.
    #[cfg(target_os = "linux")]
    #[test]
    fn no_zombies_are_left_of_what_a_program_starts() {
        use super::super::descendants::zombie_count;
        let mut command = Command::new("sh");
        command.args(["-c", "while read line; do (sh -c : &); printf '\\377'; done"]);
        let mut program = RunningProgram::start(command).expect("there is a shell");
        let group = program.child.id();
        let zombies = || zombie_count(group);
        let mut ask = || {
            program.ask(b"more\n".to_vec());
            let time = Duration::from_secs(20);
            program.answer("it", &HostMemory::new(1 << 20), time, &Interrupt::default()).1
        };
        assert!((0..3).all(|_| matches!(ask(), AnswerEnd::Marked)));
        while zombies() < 3 {
            std::thread::sleep(Duration::from_millis(10));
        }
        // They are looked for about once a second.
        std::thread::sleep(Duration::from_millis(1100));
        assert!(matches!(ask(), AnswerEnd::Marked));
        assert!(zombies() <= 1, "one may just have ended");
        drop(program);
        assert_eq!(zombies(), 0);
    }

    #[test]
    fn an_answer_ends_where_no_token_goes_on() {
        assert_eq!(end(b"Sphere 1 -1 1 360\n\xff"), Some(18));
        assert_eq!(end(b"Sphere 1 -1 1 360\n\xff\r\n"), Some(18));
        assert_eq!(end(b"\xff"), Some(0));
        assert_eq!(end(b"Surface \"open\xff"), Some(13));
        assert_eq!(end(b"Sphere 1 -1 1 360\n"), None);
        assert_eq!(end(b""), None);
        // A float with this byte in it, whole and cut off.
        assert_eq!(end(b"Color [\xa4\xff\xff\xff\xff] \xff"), Some(14));
        assert_eq!(end(b"Color [\xa4\x3f\x80\xff\xff"), None);
        assert_eq!(end(b"Surface \x92a\xff"), None);
        // The first of two.
        assert_eq!(end(b"Identity\xffIdentity\xff"), Some(8));
    }
}
