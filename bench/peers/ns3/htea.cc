// The workload of `hostwire sim experiments/htoe/nodes.toml` (8 nodes) on ns-3 with its stock
// point-to-point devices: seven senders, a switch, a node with the accelerator; frames of 20
// packets, credits that come back in frames of 50 NOPs, one pipeline each way. Times as in
// lab/sim/src/htea/config.rs.
//
//   htea [MiB] [scheduler]
//
// The devices have a queue each and serialise frames; a frame is an ns3::Packet with all that
// Ethernet adds to it. Stages are timers of the nodes. The switch forwards to the port of a
// frame's receiver. The incoming port sets the pace as in our model with one stage.

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace ns3;

namespace {

constexpr int kSenders = 7;
constexpr uint32_t kPackets = 20;         // per frame
constexpr uint32_t kNops = 50;            // per frame of credits
constexpr uint32_t kDataBytes = 1496;     // on the wire, with preamble and gap; PPP adds 2
constexpr uint32_t kNopBytes = 256;
constexpr uint32_t kCredits = (32u << 20) / 76 / kSenders;
constexpr int64_t kEncap = 244000 + 19 * 60000;
constexpr int64_t kDeencap = 222000 + 19 * 65400;
constexpr int64_t kNopEncap = 244000 - 60000 + 50 * 3333;
constexpr int64_t kNopDeencap = 222000 - 65400 + 50 * 3333;

struct Sender {
    Ptr<NetDevice> device;
    uint64_t left = 0;
    uint32_t credits = kCredits;
    bool busy = false;
    Time free;  // of its de-encapsulation stage

    void TrySend() {
        if (busy || left == 0) return;
        const uint32_t packets = left < kPackets ? static_cast<uint32_t>(left) : kPackets;
        if (credits < packets) return;
        busy = true;
        credits -= packets;
        left -= packets;
        Simulator::Schedule(PicoSeconds(kEncap), &Sender::Encapsulated, this, packets);
    }
    void Encapsulated(uint32_t packets) {
        device->Send(Create<Packet>(kDataBytes - 64 * (kPackets - packets)), device->GetBroadcast(), 0x0800);
        busy = false;
        TrySend();
    }
    void Credit() {
        credits += kNops;
        TrySend();
    }
    bool Receive(Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&) {
        free = Max(free, Simulator::Now()) + PicoSeconds(kNopDeencap);
        Simulator::Schedule(free - Simulator::Now(), &Sender::Credit, this);
        return true;
    }
};

struct Port;

struct Receiver {
    Port* port = nullptr;
    uint64_t received = 0;
    std::vector<uint32_t> owed = std::vector<uint32_t>(kSenders);
    Time deencap, encap;

    void Arrive(int sender, uint32_t packets) {
        deencap = Max(deencap, Simulator::Now()) + PicoSeconds(kDeencap);
        Simulator::Schedule(deencap - Simulator::Now(), &Receiver::Deliver, this, sender, packets);
    }
    void Deliver(int sender, uint32_t packets);
};

// The node with the accelerator and the switch's port to it: a device each.
struct Port {
    Ptr<NetDevice> at_switch, at_node;
    std::vector<Ptr<NetDevice>> to_senders;
    std::vector<int> order;  // senders of the frames on their way, oldest first
    size_t next = 0;
    std::vector<int> back;
    size_t next_back = 0;
    Receiver* receiver = nullptr;

    // From a sender, at the switch.
    bool Forward(Ptr<NetDevice> from, Ptr<const Packet> packet, uint16_t, const Address&) {
        for (int i = 0; i < kSenders; ++i) {
            if (to_senders[i] == from) {
                order.push_back(i);
                at_switch->Send(packet->Copy(), at_switch->GetBroadcast(), 0x0800);
            }
        }
        return true;
    }
    // Data, at the node.
    bool Receive(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&) {
        const uint32_t packets = kPackets - (kDataBytes - packet->GetSize()) / 64;
        receiver->Arrive(order[next++], packets);
        return true;
    }
    void Nops(int sender) {
        back.push_back(sender);
        at_node->Send(Create<Packet>(kNopBytes), at_node->GetBroadcast(), 0x0800);
    }
    // Credits, at the switch.
    bool Return(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&) {
        Ptr<NetDevice> device = to_senders[back[next_back++]];
        device->Send(packet->Copy(), device->GetBroadcast(), 0x0800);
        return true;
    }
};

void Receiver::Deliver(int sender, uint32_t packets) {
    received += packets;
    owed[sender] += packets;
    while (owed[sender] >= kNops) {
        owed[sender] -= kNops;
        encap = Max(encap, Simulator::Now()) + PicoSeconds(kNopEncap);
        Simulator::Schedule(encap - Simulator::Now(), &Port::Nops, port, sender);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const uint64_t mib = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1024;
    const char* scheduler = argc > 2 ? argv[2] : "ns3::MapScheduler";
    const uint64_t total = (mib << 20) / 64;
    Time::SetResolution(Time::PS);
    ObjectFactory factory(scheduler);
    Simulator::SetScheduler(factory);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    link.SetChannelAttribute("Delay", StringValue("122ns"));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("4000000p"));
    NodeContainer nodes;
    nodes.Create(kSenders + 2);  // senders, switch, accelerator
    Receiver receiver;
    Port port;
    std::vector<Sender> senders(kSenders);
    port.receiver = &receiver;
    receiver.port = &port;
    for (int i = 0; i < kSenders; ++i) {
        NetDeviceContainer pair = link.Install(nodes.Get(i), nodes.Get(kSenders));
        senders[i].device = pair.Get(0);
        senders[i].left = total / kSenders + (static_cast<uint64_t>(i) < total % kSenders);
        pair.Get(0)->SetReceiveCallback(MakeCallback(&Sender::Receive, &senders[i]));
        pair.Get(1)->SetReceiveCallback(MakeCallback(&Port::Forward, &port));
        port.to_senders.push_back(pair.Get(1));
        Simulator::Schedule(Time(0), &Sender::TrySend, &senders[i]);
    }
    NetDeviceContainer pair = link.Install(nodes.Get(kSenders), nodes.Get(kSenders + 1));
    port.at_switch = pair.Get(0);
    port.at_node = pair.Get(1);
    pair.Get(0)->SetReceiveCallback(MakeCallback(&Port::Return, &port));
    pair.Get(1)->SetReceiveCallback(MakeCallback(&Port::Receive, &port));
    const auto begin = std::chrono::steady_clock::now();
    Simulator::Run();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const uint64_t events = Simulator::GetEventCount();
    const double gbits = receiver.received * 512.0 / Simulator::Now().GetPicoSeconds() * 1e3;
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    std::printf("ns3,%s,%lu,%lu,%.4f,%.3f,%.3f,%.1f\n", scheduler + 5, static_cast<unsigned long>(receiver.received),
                static_cast<unsigned long>(events), gbits, seconds, events / seconds / 1e6, usage.ru_maxrss / 1024.0);
    Simulator::Destroy();
    return receiver.received == total ? 0 : 1;
}
