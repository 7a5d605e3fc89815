//! The tables of a region. Through write-combining windows they are loaded, which modelled memory
//! does not allow.

use hostwire_transport::Visibility;
use hostwire_transport::model::explore;
use hostwire_transport::region::model::{SEGMENT_BYTES, jobs_come_and_go};

use super::SEEDS;

#[test]
fn jobs_come_and_go_in_coherent_memory() {
    let program = |wire: std::sync::Arc<_>| jobs_come_and_go(&*wire);
    explore(Visibility::Coherent, SEEDS, 2, SEGMENT_BYTES, &program);
}

#[test]
fn jobs_come_and_go_in_flushed_memory() {
    let program = |wire: std::sync::Arc<_>| jobs_come_and_go(&*wire);
    explore(Visibility::Flushed, SEEDS, 2, SEGMENT_BYTES, &program);
}
