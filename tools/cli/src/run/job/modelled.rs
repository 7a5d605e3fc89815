//! What the simulator of the job's hardware says.

use super::super::outcome::Ending;
use super::super::virtual_time::Report;
use super::Job;

impl Job {
    /// What the model of the hardware did.
    pub(super) fn print_simulated(&self) {
        for line in &self.simulated {
            crate::report::line(line);
        }
    }

    /// Whether a PE is in virtual time, so that the model knows when it writes what.
    pub(super) fn model_reads(&self, index: usize) -> bool {
        let model = self.model.as_ref();
        model.is_some_and(|model| model.reads(index as u32))
    }

    /// From now on a PE's outputs are read here. What the model has read comes first.
    pub(super) fn take_over_output(&mut self, index: usize) {
        let model = self.model.as_ref();
        let reports = model.map(|model| model.leave_outputs(index as u32));
        self.hear(reports.unwrap_or_default());
    }

    pub(super) fn hear_model(&mut self) {
        let Some(model) = &self.model else { return };
        // Asked before the reports are taken, so that none is missing.
        let has_ended = model.has_ended();
        let reports = model.reports();
        self.hear(reports);
        if has_ended && !self.model_is_done {
            let why = "the simulator has ended without a result; this is an error of hostwire";
            self.hear(vec![Report::Ended(Err(why.to_owned()))]);
        }
    }

    fn hear(&mut self, reports: Vec<Report>) {
        for report in reports {
            match report {
                Report::Wrote(text) => {
                    if let Some(time) = self.times.get_mut(text.pe as usize) {
                        *time = text.at_ps;
                    }
                    let merger = &mut self.sink_mut(text.which).merger;
                    merger.write(text.pe, &text.bytes, text.at_ps);
                }
                Report::Spins(pe) => self.stderr.merger.note(&format!(
                    "PE {pe} has computed for a second without a call of the library; virtual time \
                     stands still meanwhile. If it waits in a loop of its own for memory to \
                     change, let it wait by a call (wait_until, shmem_wait_until); --timeout \
                     ends such a job"
                )),
                Report::Unwritten(why) => {
                    self.unwritten = true;
                    self.stderr.merger.note(&why);
                }
                Report::Ended(ended) => {
                    self.model_is_done = true;
                    match ended {
                        Ok(lines) => self.simulated = lines,
                        Err(cause) => {
                            // A PE that has ended in this very moment is the cause.
                            self.notice_ends();
                            self.judge();
                            let running = self.running();
                            self.end(Ending::Model { cause, running });
                        }
                    }
                }
            }
        }
    }
}
