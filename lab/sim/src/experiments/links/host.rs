//! A host: its messages, the pieces of them, and Go-Back-N from end to end where links do not
//! repeat.

use std::cell::RefCell;
use std::rc::Rc;

use crate::engine::{Component, ComponentId, Context, Ps, Wait};
use crate::experiments::load::{Board, Message, Messages};
use crate::models::DeviceEvent;
use crate::models::flit::{Cell, FlitEvent, Packer, Piece, PieceKind, Room, Shape};
use crate::models::link::{End, LinkEvent};

use super::flow::{EndToEnd, Inbound, Outbound};

/// How messages become pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Bytes beside those of the message.
    pub header_bytes: u16,
    /// Most bytes of the message in a piece.
    pub payload_bytes_max: u16,
}

/// What a host is given.
pub(super) struct Setup {
    pub(super) me: u16,
    pub(super) hosts: u16,
    pub(super) link: ComponentId,
    pub(super) shape: Shape,
    pub(super) cut: Cut,
    pub(super) end_to_end: Option<EndToEnd>,
    pub(super) in_flight_max: u64,
    pub(super) messages: Messages,
    pub(super) board: Rc<RefCell<Board>>,
}

/// The component, at end A of its link.
pub(super) struct Host {
    setup: Setup,
    packer: Packer,
    /// The link has not yet begun to send what it got last.
    waits: bool,
    /// A message whose time or turn has not come.
    pending: Option<Message>,
    outbound: Vec<Outbound>,
    inbound: Vec<Inbound>,
    /// Hosts that pieces may go to, in turn.
    turn: usize,
    timer_at: Option<Ps>,
    /// Why not everything can arrive any more.
    pub(super) failed: Option<String>,
}

impl Host {
    pub(super) fn new(setup: Setup) -> Host {
        let hosts = usize::from(setup.hosts);
        Host {
            packer: Packer::new(setup.shape),
            waits: false,
            pending: None,
            outbound: (0..hosts).map(|_| Outbound::default()).collect(),
            inbound: vec![Inbound::default(); hosts],
            turn: 0,
            timer_at: None,
            failed: None,
            setup,
        }
    }

    /// Pieces that were sent again from end to end.
    pub(super) fn resent(&self) -> u64 {
        self.outbound.iter().map(|flow| flow.resent).sum()
    }

    /// Begins the messages that are due and may go.
    fn begin_messages(&mut self, now: Ps) {
        while let Some(message) = self.pending.take().or_else(|| self.setup.messages.next()) {
            let due = message.due_ps.map(Ps);
            let is_early = due.is_some_and(|due| due > now);
            let me = usize::from(self.setup.me);
            let mut board = self.setup.board.borrow_mut();
            if is_early || !board.may_begin(me, self.setup.in_flight_max) {
                self.pending = Some(message);
                return;
            }
            let most = u64::from(self.setup.cut.payload_bytes_max);
            let parts = message.bytes.div_ceil(most);
            let number = board.begin((me, message.to), (message.bytes, parts), due.unwrap_or(now));
            drop(board);
            let (Ok(number), Ok(to)) = (u32::try_from(number), u16::try_from(message.to)) else {
                self.failed
                    .get_or_insert_with(|| "too many messages".into());
                return;
            };
            let Some(flow) = self.outbound.get_mut(message.to) else {
                return;
            };
            for part in 0..parts {
                let payload_bytes = (message.bytes - part * most).min(most) as u16;
                flow.queue.push_back(Piece {
                    from: self.setup.me,
                    to,
                    number: 0,
                    bytes: payload_bytes + self.setup.cut.header_bytes,
                    kind: PieceKind::Data {
                        message: number,
                        payload_bytes,
                    },
                });
            }
        }
    }

    /// The next piece: acknowledgements first, then data to one host after the other.
    fn next_piece(&mut self, now: Ps) -> Option<Piece> {
        if let Some(end_to_end) = self.setup.end_to_end {
            let mut others = self.inbound.iter_mut().enumerate();
            let owed = others.find_map(|(to, flow)| Some((to, flow.owed(now, &end_to_end)?)));
            if let Some((to, (kind, number))) = owed {
                return Some(Piece {
                    from: self.setup.me,
                    to: to as u16,
                    number,
                    bytes: end_to_end.ack_bytes,
                    kind,
                });
            }
        }
        let window = self.setup.end_to_end.map(|end_to_end| end_to_end.window);
        let hosts = self.outbound.len();
        for step in 0..hosts {
            let to = (self.turn + step) % hosts;
            if let Some(piece) = self.outbound[to].next(window, now) {
                self.turn = to + 1;
                return Some(piece);
            }
        }
        None
    }

    fn receive(&mut self, cell: &Cell, now: Ps) {
        for piece in &cell.pieces {
            let from = usize::from(piece.from);
            let (Some(inbound), Some(outbound)) =
                (self.inbound.get_mut(from), self.outbound.get_mut(from))
            else {
                continue;
            };
            match piece.kind {
                PieceKind::Ack => outbound.acknowledge(piece.number, now),
                PieceKind::Nak => {
                    outbound.acknowledge(piece.number, now);
                    outbound.repeat();
                }
                PieceKind::Data { message, .. } => {
                    if inbound.take(piece.number, now) {
                        let me = usize::from(self.setup.me);
                        let mut board = self.setup.board.borrow_mut();
                        board.part(me, message.into(), now);
                    } else if self.setup.end_to_end.is_none() {
                        let text = format!(
                            "host {}: piece {} of host {from} is not the next one",
                            self.setup.me, piece.number
                        );
                        self.failed.get_or_insert(text);
                    }
                }
            }
        }
    }

    /// Does what is due, and hands the link what comes next.
    fn work(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        let now = ctx.now();
        self.begin_messages(now);
        if let Some(end_to_end) = self.setup.end_to_end {
            for flow in &mut self.outbound {
                flow.check_timeout(now, end_to_end.timeout);
            }
        }
        if !self.waits {
            let mut packer = std::mem::replace(&mut self.packer, Packer::new(self.setup.shape));
            let cell = packer.pack(|| self.next_piece(now));
            self.packer = packer;
            if let Some(cell) = cell {
                self.waits = true;
                let submit = LinkEvent::Submit {
                    end: End::A,
                    packet: Rc::new(cell),
                };
                ctx.schedule(self.setup.link, Ps::ZERO, DeviceEvent::Flit(submit));
            }
        }
        self.set_timer(ctx);
    }

    fn set_timer(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        let now = ctx.now();
        let due = self.pending.and_then(|message| message.due_ps).map(Ps);
        let due = due.filter(|due| *due > now);
        let limits = self.setup.end_to_end.map(|end_to_end| {
            let repeats = self.outbound.iter();
            let repeats = repeats.filter_map(|flow| flow.timeout_at(end_to_end.timeout));
            let acks = self.inbound.iter();
            let acks = acks.filter_map(|flow| flow.ack_at(&end_to_end));
            repeats.chain(acks).min()
        });
        let next = due.into_iter().chain(limits.flatten()).min();
        let Some(at) = next.map(|at| at.max(now)) else {
            return;
        };
        // An acknowledgement that is due waits for the link, which then wakes this host.
        if at > now && self.timer_at.is_none_or(|timer| at < timer || timer < now) {
            self.timer_at = Some(at);
            ctx.schedule_at(ctx.me(), at, DeviceEvent::FlitDevice(FlitEvent::Timer));
        }
    }
}

impl Component<DeviceEvent> for Host {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        match event {
            DeviceEvent::Flit(LinkEvent::Deliver { packet, .. }) => {
                let release = LinkEvent::Release {
                    end: End::A,
                    cost: Room {
                        bytes: packet.bytes,
                    },
                };
                ctx.schedule(self.setup.link, Ps::ZERO, DeviceEvent::Flit(release));
                self.receive(&packet, ctx.now());
            }
            DeviceEvent::Flit(LinkEvent::Sent { .. }) => self.waits = false,
            DeviceEvent::FlitDevice(FlitEvent::Timer) if self.timer_at == Some(ctx.now()) => {
                self.timer_at = None;
            }
            DeviceEvent::FlitDevice(FlitEvent::Wake) => {}
            // A timer that an earlier one has replaced.
            _ => return,
        }
        self.work(ctx);
    }

    fn waits(&self) -> Vec<Wait> {
        let flows = self.outbound.iter().enumerate();
        let waiting = flows.filter(|(_, flow)| flow.waiting() > 0);
        let waits = waiting.map(|(to, flow)| Wait {
            resource: format!("{} pieces for host {to}", flow.waiting()),
            holder: Some(self.setup.link),
        });
        waits.collect()
    }
}
