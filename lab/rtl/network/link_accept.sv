// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The receiver's side of Go-Back-N: takes the packet of a good frame if it is the next one and there is room for it, and
// says what the other end has to be told. A gap, damage or lack of room is rejected once, until something is taken
// again or the own timeout passes.

module link_accept #(
  parameter int unsigned SeqW = 7
) (
  input  logic            clk_i,
  input  logic            rst_ni,

  input  logic            good_i,
  input  logic            bad_i,
  input  logic            bare_i,
  input  logic [SeqW-1:0] seq_i,
  output logic            wanted_o,   // the frame at hand is the next one
  input  logic            overflow_i, // there was no room for its packet
  output logic            commit_o,
  output logic            rollback_o,

  output logic            owed_o,
  output logic            reject_o,
  output logic [SeqW-1:0] expected_o,
  input  logic            told_i,
  input  logic            timeout_i,
  output logic            no_room_o
);
  logic [SeqW-1:0] expected_q, ahead;
  logic ack_q, reject_q, rejected_q, old, reject;

  assign ahead      = seq_i - expected_q;
  assign old        = ahead[SeqW-1];
  assign wanted_o   = !bare_i && ahead == '0;
  assign commit_o   = good_i && wanted_o && !overflow_i;
  assign no_room_o  = good_i && wanted_o && overflow_i;
  assign rollback_o = bad_i || no_room_o;
  // A frame that comes again is acknowledged again.
  assign reject     = bad_i || (good_i && !bare_i && !old && !commit_o);

  assign owed_o     = ack_q || reject_q;
  assign reject_o   = reject_q;
  assign expected_o = expected_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      expected_q <= '0;
      ack_q      <= 1'b0;
      reject_q   <= 1'b0;
      rejected_q <= 1'b0;
    end else begin
      if (commit_o) expected_q <= expected_q + 1'b1;
      if (commit_o || (good_i && !bare_i && old)) ack_q <= 1'b1;
      else if (told_i) ack_q <= 1'b0;
      if (reject && !rejected_q) reject_q <= 1'b1;
      else if (told_i) reject_q <= 1'b0;
      if (reject) rejected_q <= 1'b1;
      else if (commit_o || timeout_i) rejected_q <= 1'b0;
    end
  end
endmodule
