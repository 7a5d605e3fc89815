//! A peer made by hand: it keeps only the rules that the test wants.

use hostwire_link::{Config, Delivery, Endpoint, Event, Identity, LinkId, Node, Ns};
use hostwire_packet::ht::{Address, Dwords, NopRepr, PacketRepr, RequestRepr, UnitId};
use hostwire_packet::htoe::{
    CloseReason, FrameBuilder, FrameRepr, FrameType, HeaderRepr, SessionRepr,
};

pub const JOB: u64 = 42;
pub const ME: Node = Node(1);
pub const PEER: Node = Node(2);
pub const PEER_LINK: u16 = 9;
pub const PEER_KEY: u16 = 0x7777;

/// An endpoint and the hand-made peer of its only link.
pub struct Pair {
    pub endpoint: Endpoint,
    pub link: LinkId,
    pub now: Ns,
    /// The values that frames to the endpoint have to carry.
    pub key: u16,
    pub virtual_link: u16,
    /// Incarnations: of the endpoint, of the peer.
    pub incarnation: u64,
    pub peer_incarnation: u64,
    /// Number of the next frame to the endpoint.
    pub seq: u16,
    /// Number of the next frame expected from it.
    pub expected: u16,
}

/// The header of every hand-made frame, without its contents.
pub fn hello(pair: &Pair) -> SessionRepr {
    SessionRepr {
        job: JOB,
        source_incarnation: pair.peer_incarnation,
        destination_incarnation: pair.incarnation,
        source_node: PEER.0,
        destination_node: ME.0,
        virtual_link: PEER_LINK,
        key: PEER_KEY,
        frame_len_max: 1500,
        heard_len: 1500,
        buffers: [100, 100, 100],
        ready: true,
        reason: None,
    }
}

pub fn session_frame(header: HeaderRepr, session: SessionRepr) -> Vec<u8> {
    let frame = FrameRepr::of_session(header, session);
    let mut bytes = vec![0; frame.buffer_len()];
    frame.emit(&mut bytes).unwrap();
    bytes
}

pub fn line(address: u64, data: &[u8]) -> PacketRepr<'_> {
    let dwords = Dwords::from_len_bytes(data.len()).unwrap();
    let write = RequestRepr::posted_write(UnitId::MIN, Address::new(address).unwrap(), dwords);
    PacketRepr::new(write, data).unwrap()
}

impl Pair {
    /// An endpoint with an open link.
    pub fn new(config: Config) -> Self {
        let mut pair = Self::unopened(config);
        pair.open();
        pair
    }

    pub fn unopened(config: Config) -> Self {
        let identity = Identity {
            node: ME,
            job: JOB,
            incarnation: 1_000,
        };
        let mut endpoint = Endpoint::new(config, identity, 0x1234_5678_9abc_def0).unwrap();
        let link = endpoint.link(PEER).unwrap();
        Self {
            endpoint,
            link,
            now: Ns(1_000_000),
            key: 0,
            virtual_link: 0,
            incarnation: 0,
            peer_incarnation: 500,
            seq: 65_530,
            expected: 0,
        }
    }

    /// The handshake.
    pub fn open(&mut self) {
        self.endpoint.open(self.now, self.link).unwrap();
        let (_, theirs) = self.session();
        self.incarnation = theirs.source_incarnation;
        let call = SessionRepr {
            destination_incarnation: 0,
            ready: false,
            ..hello(self)
        };
        let call = session_frame(HeaderRepr::reset(0, self.seq), call);
        assert_eq!(self.give(&call), Ok(0));
        let (header, theirs) = self.session();
        assert_eq!(theirs.destination_incarnation, self.peer_incarnation);
        self.key = theirs.key;
        self.virtual_link = theirs.virtual_link;
        self.expected = header.sequence;
        let hello = hello(self);
        let hello = session_frame(HeaderRepr::reset(0, self.seq), hello);
        assert_eq!(self.give(&hello), Ok(0));
        assert_eq!(self.endpoint.is_open(self.link), Ok(true));
        while self.endpoint.poll_event().is_some() {}
    }

    /// The reset or close frame that the endpoint sends.
    pub fn session(&mut self) -> (HeaderRepr, SessionRepr) {
        let bytes = self.sent().expect("a reset or close frame");
        let frame = FrameRepr::parse(&bytes).unwrap();
        (*frame.header(), *frame.session().expect("a session"))
    }

    /// The next frame of the endpoint.
    pub fn sent(&mut self) -> Option<Vec<u8>> {
        let transmit = self.endpoint.poll_transmit(self.now)?;
        assert_eq!((transmit.link, transmit.peer), (self.link, PEER));
        Some(transmit.frame.to_vec())
    }

    /// The headers of all frames that the endpoint wants to send now.
    pub fn all_sent(&mut self) -> Vec<HeaderRepr> {
        let mut headers = Vec::new();
        while let Some(bytes) = self.sent() {
            let header = *FrameRepr::parse(&bytes).unwrap().header();
            if header.frame_type != FrameType::Close {
                assert_eq!((header.virtual_link, header.key), (PEER_LINK, PEER_KEY));
            }
            headers.push(header);
        }
        headers
    }

    /// Lets time pass, with the timers.
    pub fn pass(&mut self, ns: u64) {
        let until = self.now.after(ns);
        while let Some(at) = self.endpoint.deadline()
            && at <= until
        {
            self.now = self.now.max(at);
            self.endpoint.on_timeout(self.now);
        }
        self.now = until;
    }

    /// Time passes, and all frames sent meanwhile are lost.
    pub fn listen(&mut self, ns: u64) {
        let until = self.now.after(ns);
        while self.now < until {
            self.pass(1_000_000);
            self.all_sent();
        }
    }

    /// Gives the endpoint a frame; releases what it delivers. Returns the number of
    /// delivered packets, or why the frame was dropped.
    pub fn give(&mut self, bytes: &[u8]) -> Result<usize, hostwire_link::DropCause> {
        let delivery: Option<Delivery<'_>> = self.endpoint.receive(self.now, bytes)?;
        Ok(delivery.map_or(0, |delivery| {
            let filled = delivery.filled();
            self.endpoint
                .release(self.now, delivery.link, filled)
                .unwrap();
            delivery.packets.len()
        }))
    }

    /// The header of the next data frame to the endpoint.
    pub fn header(&self) -> HeaderRepr {
        HeaderRepr::data(self.virtual_link, self.seq, Some(self.expected)).with_key(self.key)
    }

    pub fn data(&self, nops: &[NopRepr], packets: &[PacketRepr<'_>]) -> Vec<u8> {
        self.frame(self.header(), nops, packets)
    }

    pub fn frame(
        &self,
        header: HeaderRepr,
        nops: &[NopRepr],
        packets: &[PacketRepr<'_>],
    ) -> Vec<u8> {
        let mut bytes = vec![0; 1500];
        let mut builder = FrameBuilder::new(header, &mut bytes).unwrap();
        for nop in nops {
            builder.push_nop(nop).unwrap();
        }
        for packet in packets {
            builder.push_packet(packet).unwrap();
        }
        let len = builder.finish().unwrap();
        bytes.truncate(len);
        bytes
    }

    /// An ack of everything up to `expected`.
    pub fn ack(&self, nak: bool) -> Vec<u8> {
        let header = HeaderRepr {
            sequence: self.seq,
            ..HeaderRepr::ack(self.virtual_link, self.expected, nak).with_key(self.key)
        };
        self.frame(header, &[], &[])
    }

    /// A nak that says how many frames are missing.
    pub fn missing(&self, missing: u16) -> Vec<u8> {
        let header = HeaderRepr {
            sequence: self.seq,
            ..HeaderRepr::ack(self.virtual_link, self.expected, true).with_key(self.key)
        };
        let mut bytes = vec![0; 64];
        let len = FrameRepr::of_missing(header, missing)
            .emit(&mut bytes)
            .unwrap();
        bytes.truncate(len);
        bytes
    }

    /// A frame that carries only an ack and wants one.
    pub fn question(&self) -> Vec<u8> {
        let header = HeaderRepr {
            sequence: self.seq,
            ack_wanted: true,
            ..HeaderRepr::ack(self.virtual_link, self.expected, false).with_key(self.key)
        };
        self.frame(header, &[], &[])
    }

    /// How the link was closed.
    pub fn closed(&mut self) -> Option<hostwire_link::CloseReason> {
        while let Some(event) = self.endpoint.poll_event() {
            if let Event::Closed { reason, peer, .. } = event {
                assert_eq!(peer, PEER);
                return Some(reason);
            }
        }
        None
    }

    /// The reason in the close frame that the endpoint sends.
    pub fn told(&mut self) -> Option<CloseReason> {
        let (header, session) = self.session();
        assert_eq!(header.frame_type, FrameType::Close);
        session.reason
    }
}
