//! The settings that are no wire's.

use hostwire_bootstrap::settings::kinds::{Bytes, Seconds, Switch, shown};
#[cfg(target_os = "linux")]
use hostwire_bootstrap::settings::kinds::{Command, File, Folder};
use hostwire_bootstrap::settings::{Flag, listed, table};
#[cfg(target_os = "linux")]
use hostwire_transport::faults::Faults;

#[cfg(target_os = "linux")]
use super::kinds::FanOut;
use super::kinds::RingBytes;
use super::{Devices, WireChoice, WireName};
use crate::sizes::Sizes;

/// The default of [`LOST_AFTER`], in seconds.
pub(crate) const LOST_AFTER_S: u64 = hostwire_transport::LOST_AFTER.as_secs();
const ATTACH_TIMEOUT_S: u64 = 60;
#[cfg(target_os = "linux")]
const RECORD_LIMIT_BYTES: usize = 1 << 30;
#[cfg(target_os = "linux")]
const DEFAULT_SSH: &str = "ssh";
#[cfg(target_os = "linux")]
const DEFAULT_FAN_OUT: u32 = 32;
table! {
    /// The settings of the environment, checked. The library reads them when a process joins
    /// its job, and a launcher before it starts a process.
    #[derive(Debug, Clone, PartialEq)]
    #[non_exhaustive]
    pub struct Settings;

    /// The wire that carries stores from PE to PE
    pub wire: WireChoice = WIRE("HOSTWIRE_WIRE": WireChoice = WireChoice::Auto) {
        without: || WireChoice::Auto.to_string(),
        detail: || format!(
            "The order of `auto` between hosts is {}. It does not take a wire that some PE cannot \
             use, or over which PEs do not hear each other; {STATS} says why.",
            listed(WireName::fastest_first().into_iter().map(WireName::name), "and"),
        ),
        flag: Some(Flag::of_value("wire", "WIRE").with(|| format!(
            "With {}, and with auto and --hosts, the PEs are started on several hosts that are made \
             on this machine: network namespaces with a cable or a switch between them, which end \
             with the job. That needs root. See --hosts.",
            WireName::listed(WireName::is_network, "and"),
        ))),
    }

    /// Bytes of the symmetric heap of each PE
    pub heap_bytes: Option<usize> = HEAP("HOSTWIRE_HEAP": Bytes) {
        without: || shown(Sizes::default().heap_bytes),
        detail: || "The heaps of all PEs must fit into the memory of their host together.".into(),
        flag: Some(Flag::of_value("heap", "SIZE").with(|| "Suffixes are powers of 1024.".into())),
    }

    /// Bytes of the message ring from each PE to each other PE
    pub ring_bytes: Option<usize> = RING("HOSTWIRE_RING": RingBytes) {
        without: || shown(Sizes::default().ring_bytes),
        detail: || "A larger ring lets a sender run further ahead of its receiver.".into(),
        flag: Some(Flag::of_value("ring", "SIZE")),
    }

    /// The devices of each PE for `hostwire::tca`
    pub(crate) devices: Devices = DEVICES("HOSTWIRE_DEVICES": Devices = Devices::Auto) {
        without: || Devices::Auto.to_string(),
        detail: || "`cuda`: the GPUs that the driver's library shows. `modelled:N`: N processes that own \
                    the memory of a device each, for machines without one. `auto`: cuda if there is a GPU, \
                    else modelled. `none`: host memory alone.".into(),
        flag: Some(Flag::of_value("devices", "DEVICES")),
        may_differ: true,
    }

    /// Frames between hosts are sent as they are, without encryption
    pub insecure_wire: bool = INSECURE_WIRE("HOSTWIRE_INSECURE_WIRE": Switch = false) {
        without: || "encrypted".into(),
        detail: || "Anybody on the network can then read and change the memory of the job.".into(),
        flag: Some(Flag::switch("insecure-wire").with(|| "Only with a wire between hosts.".into())),
    }

    /// Seconds of silence after which a PE on another host is lost
    pub lost_after_s: u64 = LOST_AFTER("HOSTWIRE_LOST_AFTER": Seconds = LOST_AFTER_S) {
        without: || LOST_AFTER_S.to_string(),
        detail: || "While the kernel of its host answers, on a TCP connection between the hosts, it is \
                    ten times as long: a process that gets no processor is not lost. With less than \
                    5, a host that does not answer is lost after 2.5 seconds at the earliest. In a \
                    window, with more than 251 hosts, and where no TCP connection can be made, \
                    silence alone decides. Time in which this process itself did not run does not \
                    count. Set more for machines that are paused, and for cables that may be \
                    unplugged for long. The error says how long the PE waited, and why it gave up. \
                    A PE that is killed is noticed at once: by other PEs of its host, else because \
                    TCP connections between the hosts end.".into(),
    }

    /// Seconds that PEs wait for each other when a job starts
    pub attach_timeout_s: u64 =
        ATTACH_TIMEOUT("HOSTWIRE_ATTACH_TIMEOUT": Seconds = ATTACH_TIMEOUT_S)
    {
        without: || ATTACH_TIMEOUT_S.to_string(),
        detail: || "They wait as long for the launcher, at the start and at the end of the job.".into(),
    }

    /// Each PE prints the counters of its wire when it leaves the job
    pub(crate) stats: bool = STATS("HOSTWIRE_STATS": Switch = false) {
        without: || "silent".into(),
        detail: || format!(
            "PE 0 says which wire a job of several hosts takes for {WIRE}=`auto`, and why no faster \
             one."
        ),
        may_differ: true,
    }

    /// Faults on purpose, for tests
    #[cfg(target_os = "linux")]
    pub(crate) faults: Option<Faults> = FAULTS("HOSTWIRE_FAULTS": Faults) {
        without: || "no faults".into(),
        detail: || "Over Ethernet, UDP and TCP frames between hosts meet faults, which the links repair. \
                    Over shared memory, windows and libfabric the stores of PEs to each other do. A wire may \
                    reorder stores and make them twice, but with drop and flip the program misses \
                    stores or reads wrong ones: it may fail, or wait for ever (see `hostwire run \
                    --timeout`).".into(),
    }

    /// The folder into which each PE writes what it stores to others, as a capture file for Wireshark
    #[cfg(target_os = "linux")]
    pub record: Option<String> = RECORD("HOSTWIRE_RECORD": Folder) {
        without: || "nothing is recorded".into(),
        flag: Some(Flag::of_value("record", "DIR")),
        detail: || "It is made if it does not exist, and files of an earlier job are replaced. With \
                    any wire `pe-N.pcapng` has the stores of PE N as HToE frames that are not \
                    encrypted. Such a job is slower: gets and atomics become stores, too.".into(),
    }

    /// Most bytes of the recording of a PE
    #[cfg(target_os = "linux")]
    pub(crate) record_limit_bytes: usize =
        RECORD_LIMIT("HOSTWIRE_RECORD_LIMIT": Bytes = RECORD_LIMIT_BYTES)
    {
        without: || shown(RECORD_LIMIT_BYTES),
        detail: || "What is stored beyond it is counted; see `hostwire run --stats`.".into(),
        may_differ: true,
    }

    /// The launcher's `libpmix.so.2`
    #[cfg(target_os = "linux")]
    pub pmix_library: Option<String> = PMIX_LIBRARY("HOSTWIRE_PMIX_LIBRARY": File) {
        without: || "the one that the system's loader finds".into(),
        may_differ: true,
    }

    /// The command by which `hostwire run --on` reaches other hosts
    #[cfg(target_os = "linux")]
    pub ssh: String = SSH("HOSTWIRE_SSH": Command = DEFAULT_SSH.to_owned()) {
        without: || DEFAULT_SSH.to_owned(),
        detail: || format!(
            "It gets `-oBatchMode=yes -oControlMaster=no -T`, the host, and a command line for a shell. The launcher reads \
             it; with more than {FAN_OUT} hosts it is started on hosts, too."
        ),
        may_differ: true,
    }

    /// How many hosts `hostwire run --on` reaches by ssh from one
    #[cfg(target_os = "linux")]
    pub fan_out: u32 = FAN_OUT("HOSTWIRE_FAN_OUT": FanOut = DEFAULT_FAN_OUT) {
        without: || DEFAULT_FAN_OUT.to_string(),
        detail: || "If there are more, the first of them reach the next. They need a way in there that asks nothing: keys of \
                    their own, or an agent that is forwarded. 1024 reaches all from the launcher. Only the launcher reads \
                    it.".into(),
        flag: Some(Flag::of_value("fan-out", "HOSTS")),
        may_differ: true,
    }
}
