//! What a link says when nothing goes on.

use crate::engine::Wait;

use super::config::End;
use super::family::Family;
use super::{Link, TrainingState};

impl<F: Family> Link<F> {
    pub(super) fn report_waits(&self) -> Vec<Wait> {
        [End::A, End::B]
            .into_iter()
            .flat_map(|end| match self.state {
                TrainingState::Up | TrainingState::Training => self.missing_credits(end),
                TrainingState::Down | TrainingState::Failed => {
                    self.missing_training(end).into_iter().collect()
                }
            })
            .collect()
    }

    fn missing_credits(&self, end: End) -> Vec<Wait> {
        let far = self.ends[end.other() as usize].device;
        let missing = self.ends[end as usize].missing();
        missing
            .map(|(channel, credit, queued, first)| Wait {
                resource: format!(
                    "{} {credit} from end {end:?} ({queued} packets queued, the first {})",
                    F::channel_name(channel),
                    F::describe(first)
                ),
                holder: far.map(|(device, _)| device),
            })
            .collect()
    }

    fn missing_training(&self, end: End) -> Option<Wait> {
        let waiting = self.ends[end as usize].waiting();
        let spent = if self.has_failed() {
            ", retries spent: the link has given up"
        } else {
            ""
        };
        let resource =
            format!("initialisation of the link ({waiting} packets queued at end {end:?}{spent})");
        (waiting > 0).then_some(Wait {
            resource,
            holder: None,
        })
    }

    pub(super) fn report_fault(&self) -> Option<String> {
        let setbacks = || format!("{} {} in a row", self.trainings, F::SETBACKS);
        match (self.state, &self.why_down) {
            (TrainingState::Down, Some(why)) => Some(format!("never trained: {why}")),
            (TrainingState::Down, None) => Some("was never initialised".into()),
            (TrainingState::Failed, _) => Some(format!("has given up after {}", setbacks())),
            (TrainingState::Up | TrainingState::Training, _) if self.trainings > 0 => {
                Some(format!("is retrying after {}", setbacks()))
            }
            (TrainingState::Up | TrainingState::Training, _) => None,
        }
    }
}
