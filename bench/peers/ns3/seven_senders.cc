// The engine workload of lab/sim/tests/common/seven_senders.rs on ns-3's core:
// seven senders of 64-byte packets share one output of a switch, with credits on
// every link. Same model, same times, same number of events.
//
//   seven_senders [packets] [plain|packet] [scheduler]
//
// "plain" carries two integers per packet, as our engine does; "packet" carries
// an ns3::Packet of 64 bytes. The scheduler is the name of an ns-3 class, by default
// that of ns-3 itself, ns3::MapScheduler.

#include "ns3/core-module.h"
#include "ns3/packet.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

using namespace ns3;

namespace {

constexpr int kSenders = 7;
constexpr uint32_t kCredits = 32;
// Set in main: a Time made before SetResolution would be rounded to nanoseconds.
Time kPacket;
Time kWire;

struct Item {
    uint16_t from;
    uint32_t number;
    Ptr<Packet> packet;
};

struct Switch;

struct Sink {
    Switch* sw;
    uint64_t received = 0;
    void Receive(Item item);
};

struct Sender {
    uint16_t index;
    Switch* sw;
    uint32_t left;
    bool with_packet;
    uint32_t credits = kCredits;
    bool idle = true;
    void TrySend();
    void Credit() {
        ++credits;
        if (idle) TrySend();
    }
};

struct Switch {
    std::vector<std::unique_ptr<Sender>> senders;
    Sink* sink;
    std::deque<Item> queue;
    uint32_t credits = kCredits;
    bool busy = false;

    void Receive(Item item) {
        queue.push_back(item);
        TrySend();
    }
    void Credit() {
        ++credits;
        TrySend();
    }
    void Free() {
        busy = false;
        TrySend();
    }
    void TrySend() {
        if (busy || credits == 0 || queue.empty()) return;
        Item item = queue.front();
        queue.pop_front();
        busy = true;
        --credits;
        Simulator::Schedule(kPacket + kWire, &Sink::Receive, sink, item);
        Simulator::Schedule(kPacket, &Switch::Free, this);
        Simulator::Schedule(kWire, &Sender::Credit, senders[item.from].get());
    }
};

void Sink::Receive(Item) {
    ++received;
    Simulator::Schedule(kWire, &Switch::Credit, sw);
}

void Sender::TrySend() {
    if (left == 0 || credits == 0) {
        idle = true;
        return;
    }
    idle = false;
    --left;
    --credits;
    Item item{index, left, with_packet ? Create<Packet>(64) : Ptr<Packet>()};
    Simulator::Schedule(kPacket + kWire, &Switch::Receive, sw, item);
    Simulator::Schedule(kPacket, &Sender::TrySend, this);
}

}  // namespace

int main(int argc, char** argv) {
    const uint32_t packets = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2000000;
    const bool with_packet = argc > 2 && std::strcmp(argv[2], "packet") == 0;
    const char* scheduler = argc > 3 ? argv[3] : "ns3::MapScheduler";
    Time::SetResolution(Time::PS);
    ObjectFactory factory(scheduler);
    Simulator::SetScheduler(factory);
    kPacket = PicoSeconds(22500);
    kWire = PicoSeconds(5000);
    Sink sink;
    Switch sw;
    sink.sw = &sw;
    sw.sink = &sink;
    for (int i = 0; i < kSenders; ++i) {
        auto sender = std::make_unique<Sender>();
        sender->index = i;
        sender->sw = &sw;
        sender->left = packets / kSenders + (static_cast<uint32_t>(i) < packets % kSenders);
        sender->with_packet = with_packet;
        sw.senders.push_back(std::move(sender));
    }
    for (auto& sender : sw.senders) {
        Simulator::Schedule(Time(0), &Sender::TrySend, sender.get());
    }
    const auto begin = std::chrono::steady_clock::now();
    Simulator::Run();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const uint64_t events = Simulator::GetEventCount();
    std::printf("%s,%s,%lu,%lu,%ld,%.4f,%.3f,%.3f\n", with_packet ? "ns3-packet" : "ns3-plain", scheduler + std::strlen("ns3::"),
                static_cast<unsigned long>(sink.received), static_cast<unsigned long>(events),
                static_cast<long>(Simulator::Now().GetPicoSeconds()), seconds, events / seconds / 1e6,
                sink.received / seconds / 1e6);
    Simulator::Destroy();
    return sink.received == packets ? 0 : 1;
}
