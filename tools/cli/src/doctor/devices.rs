//! What devices there are to copy to.

use hostwire::settings::Devices;
use hostwire::tca;

use super::Finding;

const TOPIC: &str = "devices (run --devices)";

pub fn findings() -> Vec<Finding> {
    match tca::gpus() {
        Ok(names) if !names.is_empty() => names
            .into_iter()
            .map(|name| Finding::ok(TOPIC, "GPU", name))
            .collect(),
        Ok(_) => vec![none("the driver of CUDA shows none")],
        Err(why) => vec![none(&why)],
    }
}

fn none(why: &str) -> Finding {
    let found = format!("none ({why}); auto means {}", Devices::Modelled(1));
    Finding::ok(TOPIC, "GPU", found)
}
