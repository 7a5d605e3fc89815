//! The terminal of the launcher, while a debugger has it.

use hostwire_transport::os::signals::blocked;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpgrp, kill_process_group, waitid};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr, tcsetpgrp};

/// The terminal, lent to the process of a PE, which leads a group. It comes back when this is dropped.
pub struct Loan {
    process: Pid,
    /// How the terminal was.
    modes: Option<Termios>,
}

impl Loan {
    /// Lends it.
    pub fn to(process: Pid) -> Loan {
        let loan = Loan {
            process,
            modes: tcgetattr(rustix::stdio::stdin()).ok(),
        };
        loan.give();
        loan
    }

    /// Gives it to the process, once more after [`take`](Self::take).
    pub fn give(&self) {
        hand_to(self.process);
        // It may have asked for it before it had it, and was stopped.
        let _ = kill_process_group(self.process, Signal::CONT);
    }

    /// Whether there is one no more: the window was closed.
    pub fn is_gone() -> bool {
        tcgetattr(rustix::stdio::stdin()).is_err()
    }

    /// Takes it for a while.
    pub fn take(&self) {
        hand_to(getpgrp());
        if let Some(modes) = &self.modes {
            let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, modes);
        }
    }

    /// Whether the user has stopped the process (Ctrl-Z) since the last call.
    pub fn is_stopped(&self) -> bool {
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
        let status = waitid(WaitId::Pid(self.process), options);
        status.is_ok_and(|status| status.is_some_and(|status| status.stopped()))
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.take();
    }
}

/// Who is not in the foreground gets SIGTTOU for this.
fn hand_to(group: Pid) {
    let _ = blocked(|| tcsetpgrp(rustix::stdio::stdin(), group));
}
