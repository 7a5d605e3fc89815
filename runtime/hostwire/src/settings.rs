//! What the environment may set: the table of all settings.
//!
//! A row of the table is all that there is to say of a setting. What reads it, its option of
//! `hostwire run`, the help, `docs/environment.md`, what OpenSHMEM's `SHMEM_INFO` prints and what the
//! launcher hands its PEs come from there. A variable that is empty counts as not set.
//!
//! | file | |
//! |---|---|
//! | this one | the table |
//! | `wire.rs` | the table of wires |
//! | `window.rs` | the setting that names a region of memory |
//! | `devices.rs` | which devices a PE has |
//! | `kinds.rs` | what values settings can have |
//! | `misspelt.rs` | variables that are nearly settings |
//! | `setting.rs` | what a setting is, and how a table is made |
//! | [`page`] | tables for documentation |

mod devices;
mod kinds;
mod misspelt;
#[doc(hidden)]
pub mod page;
mod setting;
#[cfg(target_os = "linux")]
mod window;
mod wire;

#[cfg(target_os = "linux")]
use hostwire_fabric::Choice as FabricChoice;
#[cfg(target_os = "linux")]
use hostwire_region::Spec;
#[cfg(target_os = "linux")]
use hostwire_transport::faults::Faults;

pub use devices::Devices;
pub(crate) use kinds::check_ring;
pub use kinds::parse_bytes;
#[doc(hidden)]
pub use misspelt::{misspelt, nearest};
pub use setting::{Choice, Flag, Kind, Setting, SettingError, expected};
#[cfg(target_os = "linux")]
pub use window::parse_window;
pub use wire::{WireChoice, WireName};

#[doc(hidden)]
pub use crate::settings_table as table;

use crate::sizes::Sizes;
use kinds::{Bytes, EtherType, Interfaces, RingBytes, Seconds, Switch, shown};
#[cfg(target_os = "linux")]
use kinds::{File, Folder};
use setting::listed;
#[cfg(target_os = "linux")]
use window::Window;

pub use hostwire_bootstrap::variables::INSECURE_WIRE_WARNING;
/// What [`LOST_AFTER`] is where it is not set, in seconds.
pub(crate) const LOST_AFTER_S: u64 = hostwire_transport::LOST_AFTER.as_secs();
const ATTACH_TIMEOUT_S: u64 = 60;
#[cfg(target_os = "linux")]
const RECORD_LIMIT_BYTES: usize = 1 << 30;

table! {
    /// What the environment says, checked: the library asks as a process joins its job, and a
    /// launcher before it starts any.
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

    /// The network interface between hosts, or several
    pub(crate) interfaces: Option<Vec<String>> = IFACE("HOSTWIRE_IFACE": Interfaces) {
        without: || "the only Ethernet interface that is up, else that of the default route".into(),
        detail: || "Several, as in `eth1,eth2`, are used at once: each has a network of its own, and the order \
                    of networks is the same on all hosts. If a cable is pulled, the others carry what it \
                    carried, and nothing is lost. `hostwire run --hosts` makes interfaces of its own and uses those.".into(),
        may_differ: true,
    }

    /// The memory that all PEs map, for the wire `window`
    #[cfg(target_os = "linux")]
    pub(crate) window: Option<Spec> = WINDOW("HOSTWIRE_WINDOW": Window) {
        without: || "memory of the job's own for PEs of one kernel".into(),
        detail: || "PATH is a file, a device-dax node or the memory of a PCI device, in which `hostwire \
                    window make` has made a region. The contract is what it takes for a store to be \
                    seen: coherent where hardware keeps the caches of all hosts equal, flushed where \
                    it does not, write-combining where stores are posted and loads do not cross. \
                    With bell=vfio PEs sleep until the doorbell of their ivshmem device rings. \
                    Who may open PATH may read and change all that is in it.".into(),
        flag: Some(Flag::of_value("window", "WINDOW")),
        may_differ: true,
    }

    /// The EtherType of frames between hosts
    pub(crate) ether_type: u16 = ETHERTYPE("HOSTWIRE_ETHERTYPE": EtherType = EtherType::DEFAULT) {
        without: || format!("{:#06x}", EtherType::DEFAULT),
        detail: || format!("For the wires {}.", WireName::listed(WireName::has_ether_type, "and")),
    }

    /// The provider of libfabric for the wire fabric, as `provider[:domain]`
    #[cfg(target_os = "linux")]
    pub(crate) fabric: Option<FabricChoice> = FABRIC("HOSTWIRE_FABRIC": FabricChoice) {
        without: || "the first one of libfabric that leads to other hosts".into(),
        detail: || "As `fi_info` names it, for example `tcp;ofi_rxm`, and a device or an interface \
                    behind a colon. `hostwire doctor` lists those that there are.".into(),
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
    pub(crate) lost_after_s: u64 = LOST_AFTER("HOSTWIRE_LOST_AFTER": Seconds = LOST_AFTER_S) {
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
    pub(crate) attach_timeout_s: u64 =
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
}

impl Settings {
    /// Reads the environment of this process.
    ///
    /// # Errors
    /// [`SettingError`] for the first variable whose value makes no sense.
    pub fn from_env() -> Result<Self, SettingError> {
        Self::from_lookup(|name| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty());
            value.map(|value| value.to_string_lossy().into_owned())
        })
    }

    /// Seconds of silence after which a PE on another host is lost.
    pub fn lost_after_s(&self) -> u64 {
        self.lost_after_s
    }

    /// The region that a path leads to, if there is one.
    pub fn window(&self) -> Option<&Spec> {
        self.window.as_ref().filter(|spec| spec.path.is_some())
    }

    /// The sizes of this process's segment, but for what a program asks for.
    pub(crate) fn sizes(&self) -> Sizes {
        let usual = Sizes::default();
        Sizes {
            heap_bytes: self.heap_bytes.unwrap_or(usual.heap_bytes),
            ring_bytes: self.ring_bytes.unwrap_or(usual.ring_bytes),
            ..Sizes::USUAL
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn with(setting: &Setting, value: &str) -> Result<Settings, SettingError> {
        Settings::from_lookup(|asked| (asked == setting.variable).then(|| value.into()))
    }

    #[test]
    fn a_value_is_read_into_its_field() {
        for wire in WireName::ALL {
            let read = with(&WIRE, wire.name()).unwrap().wire;
            assert_eq!(read, WireChoice::Named(wire));
        }
        assert_eq!(with(&ETHERTYPE, "0x88B6").unwrap().ether_type, 0x88b6);
        for (text, names) in [("eth1", &["eth1"][..]), ("eth1, eth2", &["eth1", "eth2"])] {
            let interfaces = with(&IFACE, text).unwrap().interfaces.unwrap();
            assert_eq!(interfaces, names);
        }
        for bad in ["", "eth1,", "eth1,eth1", "a,b,c,d,e"] {
            assert!(with(&IFACE, bad).is_err(), "{bad}");
        }
        assert!(with(&INSECURE_WIRE, "1").unwrap().insecure_wire);
        assert!(!with(&INSECURE_WIRE, "0").unwrap().insecure_wire);
        assert!(!with(&WIRE, "ether").unwrap().insecure_wire);
    }

    #[test]
    fn pes_are_handed_bytes() {
        assert_eq!(HEAP.canonical("64MiB").unwrap(), "67108864");
        assert_eq!(RING.canonical("8K").unwrap(), "8192");
        assert_eq!(WIRE.canonical("udp").unwrap(), "udp");
        let refused = RING.canonical("192").unwrap_err();
        assert_eq!(refused, "expected a power of two from 256 to 1M");
    }

    #[test]
    fn what_is_not_set_has_its_default() {
        let nothing = Settings::from_lookup(|_| None).unwrap();
        assert_eq!(nothing.sizes(), Sizes::default());
        assert_eq!(nothing.wire, WireChoice::Auto);
        // What the table says to hold without a setting is what does hold.
        let holds = |settings: &Settings| {
            let sizes = (settings.sizes().heap_bytes, settings.sizes().ring_bytes);
            let times = (settings.lost_after_s, settings.attach_timeout_s);
            (sizes, times, settings.wire, settings.ether_type)
        };
        for setting in [
            &HEAP,
            &RING,
            &WIRE,
            &ETHERTYPE,
            &LOST_AFTER,
            &ATTACH_TIMEOUT,
        ] {
            let said = with(setting, &setting.without()).unwrap();
            assert_eq!(holds(&said), holds(&nothing), "{setting}");
        }
    }

    #[test]
    fn an_unusable_setting_is_named() {
        for (setting, value) in [
            (&HEAP, "lots"),
            (&HEAP, "0"),
            (&RING, "4 KB"),
            (&RING, "192"),
            (&WIRE, "pigeon"),
            (&ATTACH_TIMEOUT, "0"),
            (&LOST_AFTER, "0.5"),
            (&ETHERTYPE, "88b5"),
            (&ETHERTYPE, "0x05ff"),
            (&ETHERTYPE, "0x8100"),
            (&ETHERTYPE, "0x+8b5"),
            (&ETHERTYPE, "0x188b5"),
            (&INSECURE_WIRE, "yes"),
            (&STATS, "yes"),
            (&DEVICES, "gpu"),
            (&FAULTS, "drop=2"),
        ] {
            let refused = SettingError {
                variable: setting.variable,
                value: value.to_owned(),
                problem: setting.canonical(value).unwrap_err(),
            };
            assert_eq!(with(setting, value).unwrap_err(), refused);
        }
    }
}
