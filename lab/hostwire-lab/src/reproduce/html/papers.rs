//! Summaries of the papers in our words. A paper without a summary is shown by its name.

struct About {
    name: &'static str,
    title: &'static str,
    summary: &'static str,
}

const PAPERS: [About; 7] = [
    About {
        name: "tccluster",
        title: "TCCluster: processors as their own network",
        summary: "Opterons of different boards are joined by their HyperTransport links, which are run \
            without coherence. A store to a remote address crosses the wire as a posted write; nothing \
            is ever read across it. Firmware has to set up address maps and routes, and messages are \
            rings in the receiver's memory that it polls. Two boards boot here by modelled firmware, \
            and the programs that are timed use the library's own rings.",
    },
    About {
        name: "htx-board",
        title: "HTX board: a network card on HyperTransport",
        summary: "An FPGA on an HTX slot sits one link away from the processor. The paper measures \
            what stores into it and loads from it cost, and what a message through its pipeline takes. \
            Bandwidths follow from the packets of HyperTransport alone: 8 bytes of command for up to 64 \
            of data, and a CRC every 512 bit times. Latencies need fitted numbers, the host's and the \
            board's own time.",
    },
    About {
        name: "pgas-cluster",
        title: "PGAS cluster: remote memory against swap",
        summary: "A program that needs more memory than its board has can use that of others, by \
            loads and stores over the network, or a swap device. STREAM is run on a model of both. \
            Three constants were fitted to three numbers; the scenarios with swap are values of ours beside a figure that we do not have as numbers.",
    },
    About {
        name: "tca-peach2",
        title: "TCA: accelerators joined by PCI Express",
        summary: "PEACH2 is a chip with four PCI Express ports that forwards writes by their address, \
            so that accelerators of different nodes write into each other's memory; chains of DMA \
            descriptors move blocks. Links, flow control and chips are simulated TLP by TLP. The peak \
            follows from headers and payload; four numbers were fitted (the chip's latency, the gap between \
            TLPs, the interrupt, the GPU's reads), and the curves between them stand beside figures that we do not have as numbers.",
    },
    About {
        name: "htoe",
        title: "HTEA: HyperTransport over Ethernet",
        summary: "HyperTransport packets are packed into Ethernet frames, with credits per virtual \
            link, so that hosts share accelerators over a common switch. One number was fitted, 6.99 \
            Gb/s; 24.45 Gb/s are 3.5 times that, from which link uses which port. The collapse to 2.80 Gb/s does \
            not come out of the model: a study of what could explain it is shown beside it.",
    },
    About {
        name: "elsewhere",
        title: "Published elsewhere",
        summary: super::super::report::ELSEWHERE,
    },
    About {
        name: "rtl",
        title: "The HTX board as RTL",
        summary: super::super::report::RTL,
    },
];

pub fn title(name: &str) -> &str {
    about(name).map_or(name, |about| about.title)
}

pub fn summary(name: &str) -> Option<&'static str> {
    about(name).map(|about| about.summary)
}

fn about(name: &str) -> Option<&'static About> {
    PAPERS.iter().find(|about| about.name == name)
}
