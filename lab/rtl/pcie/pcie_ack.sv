// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Which received TLPs are new, and what to tell the sender: Ack and Nak.

module pcie_ack #(
  // Cycles that an Ack may wait for others.
  parameter int unsigned Latency = 64
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The end of a TLP; `room_i`: all of it found a place.
  input  logic        sound_i,
  input  logic        bad_i,
  input  logic [11:0] seq_i,
  input  logic        room_i,
  output logic        accept_o,
  // It was the one that had to come, and there was no place: the other end took no credits for it.
  output logic        overflow_o,

  // DLLPs to send, with the number of the last good TLP.
  output logic        nak_o,
  output logic        ack_o,
  output logic        ack_urgent_o,
  output logic [11:0] seq_o,
  input  logic        nak_taken_i,
  input  logic        ack_taken_i
);

  localparam int unsigned TimeW = $clog2(Latency + 1);

  logic [11:0]      expected_q, behind;
  // A Nak is owed; a Nak was sent, and the TLP that it asks for has not come.
  logic             nak_q, nak_sent_q;
  logic             ack_q, ack_urgent_q;
  logic [TimeW-1:0] time_q;
  logic             duplicate, refuse;

  // A TLP that was here already lies less than half of the circle behind.
  assign behind     = expected_q - seq_i;
  assign accept_o   = sound_i & (behind == '0) & room_i;
  assign overflow_o = sound_i & (behind == '0) & !room_i;
  assign duplicate  = sound_i & (behind != '0) & (behind <= 12'd2048);
  assign refuse     = bad_i | (sound_i & !accept_o & !duplicate);

  assign seq_o        = expected_q - 12'd1;
  assign nak_o        = nak_q;
  assign ack_o        = ack_q;
  assign ack_urgent_o = ack_q & (ack_urgent_q | (time_q == TimeW'(Latency)));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      expected_q   <= '0;
      nak_q        <= 1'b0;
      nak_sent_q   <= 1'b0;
      ack_q        <= 1'b0;
      ack_urgent_q <= 1'b0;
      time_q       <= '0;
    end else begin
      if (accept_o) expected_q <= expected_q + 12'd1;
      // One Nak for each TLP that is missing, however many come behind it.
      nak_q      <= (refuse & !nak_sent_q) | (nak_q & !nak_taken_i & !accept_o);
      nak_sent_q <= (refuse | nak_sent_q) & !accept_o;
      // A Nak is an Ack, too.
      ack_q        <= accept_o | duplicate | (ack_q & !ack_taken_i & !nak_taken_i);
      ack_urgent_q <= duplicate | (ack_urgent_q & !ack_taken_i & !nak_taken_i);
      if (!ack_q | ack_taken_i | nak_taken_i) time_q <= '0;
      else if (time_q != TimeW'(Latency)) time_q <= time_q + 1'b1;
    end
  end

endmodule
