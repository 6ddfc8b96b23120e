//! Progress bars on standard error, where a person watches; nothing anywhere else.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Often enough to look alive.
const TICK: Duration = Duration::from_millis(100);

const OF_KNOWN_LENGTH: &str = "{prefix:>16} {bar:32} {human_pos}/{human_len}";
const OF_UNKNOWN_LENGTH: &str = "{prefix:>16} {spinner} {human_pos} in {elapsed}";

/// All bars of a command.
#[derive(Debug)]
pub struct Progress {
    bars: MultiProgress,
    ascii: bool,
}

/// One bar; it goes away when it is dropped. Workers may share it.
#[derive(Debug)]
pub struct Bar(ProgressBar);

impl Progress {
    /// Hidden on request (`--no-progress`), where CI is set, and where standard error is no terminal.
    pub fn new(no_progress: bool, ascii: bool) -> Progress {
        let in_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
        let hidden = no_progress || in_ci || !std::io::stderr().is_terminal();
        let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        Progress { bars: MultiProgress::with_draw_target(target), ascii }
    }

    /// A bar for so many steps, or, where nobody knows how many, a spinner that counts them.
    pub fn bar(&self, name: &str, steps: Option<u64>) -> Bar {
        let (template, frames) = match (steps, self.ascii) {
            (Some(_), false) => (OF_KNOWN_LENGTH, "█▉▊▋▌▍▎▏ "),
            (Some(_), true) => (OF_KNOWN_LENGTH, "=> "),
            (None, false) => (OF_UNKNOWN_LENGTH, "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"),
            (None, true) => (OF_UNKNOWN_LENGTH, "-\\|/"),
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let style = if steps.is_some() { style.progress_chars(frames) } else { style.tick_chars(frames) };
        let bar = self.bars.add(steps.map_or_else(ProgressBar::no_length, ProgressBar::new));
        bar.set_style(style);
        bar.set_prefix(name.to_owned());
        bar.enable_steady_tick(TICK);
        Bar(bar)
    }

    /// Writes something else meanwhile, without the bars in its way.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bars.suspend(write)
    }
}

impl Bar {
    /// One more step is done.
    pub fn advance(&self) {
        self.0.inc(1);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_understood() {
        assert!(ProgressStyle::with_template(OF_KNOWN_LENGTH).is_ok());
        assert!(ProgressStyle::with_template(OF_UNKNOWN_LENGTH).is_ok());
    }

    #[test]
    fn many_workers_share_a_bar() {
        for ascii in [false, true] {
            let progress = Progress::new(true, ascii);
            let bar = progress.bar("naive-rc", Some(400));
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| (0..100).for_each(|_| bar.advance()));
                }
            });
            assert_eq!(bar.0.position(), 400);
            assert!(bar.0.is_hidden());
            progress.bar("naive-rr", None).advance();
        }
    }
}
