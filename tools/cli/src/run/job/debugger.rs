//! A debugger that has the terminal.

use signal_hook::consts::SIGHUP;

use super::super::front::terminal::Loan;
use super::super::outcome::Ending;
use super::Job;

impl Job {
    /// Takes the terminal back when the debugger has ended, and stops the job when the user has stopped the debugger.
    pub(super) fn look_after_terminal(&mut self) {
        let asking = self.plan.front.asking_pe();
        let debugger = asking.and_then(|pe| self.pes.get(pe as usize));
        if debugger.is_none_or(|pe| pe.end().is_some()) {
            // The system tells the debugger alone, which had it.
            if self.terminal.take().is_some() && Loan::is_gone() && self.ending.is_none() {
                self.end(Ending::Interrupted(SIGHUP));
            }
        }
        if self.terminal.as_ref().is_some_and(|it| it.is_stopped()) {
            self.pause();
        }
    }
}
