// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Properties of link_window, inside of it, with a framer that begins and ends frames as it is told. What is heard is
// anything.

logic f_started = 1'b0;
always @(posedge clk_i) f_started <= 1'b1;
always @* if (!f_started) assume (!rst_ni);

logic f_open;  // a frame of a message is being sent
logic [SeqW-1:0] f_frame;
initial f_open = 1'b0;
always @(posedge clk_i) begin
  if (!rst_ni) f_open <= 1'b0;
  else if (begin_i) begin
    f_open  <= 1'b1;
    f_frame <= next_q;
  end else if (end_i) f_open <= 1'b0;
end
always @* begin
  assume (!begin_i || allow_o);
  assume (!(f_open && between_i));
  assume (!end_i || f_open);
end

// All counted from the oldest one that is kept.
logic [SeqW-1:0] f_acked, f_next, f_unsent;
assign f_acked  = acked_q - keep_q;
assign f_next   = next_q - keep_q;
assign f_unsent = unsent_q - keep_q;

always @* if (f_started && rst_ni) begin
  // Kept, acknowledged, sent: in this order. What is sent next was sent before, or is the first that was not.
  assert (f_acked <= f_unsent && f_next <= f_unsent);
  // Never more in flight than Frames.
  assert (f_unsent <= SeqW'(Frames));
  // The frame at hand is kept until it has ended, and is the one that was begun.
  if (f_open) assert (f_frame == next_q && f_next < f_unsent);
  // One begins only if its predecessors were all sent, and it is not acknowledged yet.
  if (begin_i) assert (f_next >= f_acked && f_next <= f_unsent);
  cover (repeat_o && keep_q == SeqW'(2));
  cover (error_o);
end

`ifdef WITH_RECEIVER
// The receiver of the other end, and a cable between them that loses frames and keeps their order. Messages have numbers
// without an end beside their sequence numbers (wide enough for all that the induction looks at). What is on the cable is
// not listed: one frame of a message and one acknowledgement, whichever, are followed, and what is asserted for these is
// assumed for all others.

localparam int unsigned W = 8;
(* anyseq *) logic f_good, f_bad, f_bare, f_overflow, f_tell, f_timeout;
(* anyseq *) logic [W-1:0] f_got, f_told;
logic f_wanted, f_commit, f_rollback, f_owed, f_reject, f_no_room;
logic [SeqW-1:0] f_expects;

link_accept #(
  .SeqW(SeqW)
) f_accept (
  .clk_i,
  .rst_ni,
  .good_i    (f_good),
  .bad_i     (f_bad),
  .bare_i    (f_bare),
  .seq_i     (f_got[SeqW-1:0]),
  .wanted_o  (f_wanted),
  .overflow_i(f_overflow),
  .commit_o  (f_commit),
  .rollback_o(f_rollback),
  .owed_o    (f_owed),
  .reject_o  (f_reject),
  .expected_o(f_expects),
  .told_i    (f_tell),
  .timeout_i (f_timeout),
  .no_room_o (f_no_room)
);

// Numbers without end. Those of the sender follow its sequence numbers.
logic [W-1:0] f_n_next, f_n_unsent, f_n_acked, f_expected;
always @(posedge clk_i) begin
  if (!rst_ni) begin
    f_n_next     <= '0;
    f_n_unsent   <= '0;
    f_n_acked    <= '0;
    f_expected <= '0;
  end else begin
    if (jump_o) f_n_next <= f_n_acked;
    else if (end_i) f_n_next <= f_n_next + 1'b1;
    if (begin_i && f_n_next == f_n_unsent) f_n_unsent <= f_n_unsent + 1'b1;
    if (progress) f_n_acked <= f_told;
    if (f_commit) f_expected <= f_expected + 1'b1;
  end
end

// One frame, whichever, is followed over the cable: its message, and the newest one that was begun before it was. Until
// it arrives, all that arrives was sent before it.
logic f_way, f_send, f_arrive;
logic [W-1:0] f_number, f_newest;
(* anyseq *) logic f_any_send, f_any_arrive;
assign f_send   = f_any_send & end_i & !f_way;
assign f_arrive = f_any_arrive & f_way & f_good & !f_bare;
always @(posedge clk_i) begin
  if (!rst_ni) f_way <= 1'b0;
  else if (f_send) begin
    f_way    <= 1'b1;
    f_number  <= f_n_next;
    f_newest <= f_n_unsent;
  end else if (f_arrive || (f_any_send & f_way)) f_way <= 1'b0;  // arrived, or lost
end

// One acknowledgement, whichever, on the way back.
logic f_back, f_say, f_hear;
logic [W-1:0] f_said;
(* anyseq *) logic f_any_say, f_any_hear;
assign f_say  = f_any_say & f_tell & !f_back;
assign f_hear = f_any_hear & f_back & heard_i;
always @(posedge clk_i) begin
  if (!rst_ni) f_back <= 1'b0;
  else if (f_say) begin
    f_back <= 1'b1;
    f_said <= f_expected;
  end else if (f_hear || (f_any_say & f_back)) f_back <= 1'b0;
end

always @* begin
  assume (expected_i == f_told[SeqW-1:0]);
  if (f_arrive) assume (f_got == f_number);
  else if (f_good && !f_bare) begin
    // It was sent, and before the followed one; and it can be told apart.
    assume (f_n_unsent - f_got >= W'(1) && f_n_unsent - f_got <= W'(2 * Frames));
    assume (f_expected - f_got <= W'(Frames) || f_got - f_expected < W'(Frames));
    if (f_way) assume (f_newest - f_got >= W'(1) && f_newest - f_got <= W'(2 * Frames));
  end
  if (f_hear) assume (f_told == f_said);
  else if (heard_i) begin
    assume (f_expected - f_told <= W'(Frames) && f_told - f_n_acked <= W'(Frames));
    if (f_back) assume (f_said - f_told <= W'(Frames));
  end
end

logic [W-1:0] f_in_flight, f_taken;
assign f_in_flight = f_n_unsent - f_n_acked;
assign f_taken     = f_expected - f_n_acked;

always @* if (f_started && rst_ni) begin
  // Sequence numbers are those of the messages.
  assert (acked_q == f_n_acked[SeqW-1:0] && unsent_q == f_n_unsent[SeqW-1:0]);
  assert (next_q == f_n_next[SeqW-1:0] && f_expects == f_expected[SeqW-1:0]);
  // What is acknowledged was taken; what was taken was sent.
  assert (f_in_flight <= W'(Frames) && f_taken <= f_in_flight);
  // The followed frame: it was sent, and is not too old to be told apart.
  if (f_way) begin
    assert (f_newest - f_number >= W'(1) && f_newest - f_number <= W'(Frames));
    assert (f_n_unsent - f_newest <= W'(Frames));
    assert (f_newest - f_expected <= W'(Frames));
    assert (f_expected - f_number <= W'(Frames) || f_number - f_expected < W'(Frames));
  end
  // A message is taken if it is the next one, and no other is taken for it.
  if (f_arrive) assert (f_wanted == (f_number == f_expected));
  // The followed acknowledgement: nothing goes back.
  if (f_back) assert (f_expected - f_said <= W'(Frames) && f_said - f_n_acked <= W'(Frames));
  // Needed by the induction: the sender.
  assert (f_n_unsent - f_n_next <= W'(Frames));
  if (f_open) assert (f_n_unsent != f_n_next);
  cover (f_arrive && f_wanted && f_expected == W'(3));
end
`endif
