// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The window of Go-Back-N at the sender: which message is sent next, and which ones wait for their acknowledgement.
// Sequence numbers are those of messages. What is acknowledged is kept until the frame at hand has ended, because it
// may be a repeated one.

module link_window #(
  parameter int unsigned SeqW    = 7,
  parameter int unsigned Frames  = 16,   // in flight; less than half of the circle of sequence numbers
  parameter int unsigned Timeout = 800,  // clocks without progress, before all is sent again
  parameter int unsigned Patience = 16   // timeouts, before an error is reported
) (
  input  logic            clk_i,
  input  logic            rst_ni,

  // Frames. Between them, at `between_i`, one may begin or the next message may change.
  input  logic            between_i,
  input  logic            begin_i,    // of the next message
  input  logic            end_i,
  output logic            allow_o,
  output logic            jump_o,     // the next message becomes that of `jump_to_o`
  output logic [SeqW-1:0] jump_to_o,
  output logic [SeqW-1:0] next_o,
  output logic [SeqW-1:0] keep_o,     // messages before it are not needed

  // From the other end.
  input  logic            heard_i,
  input  logic [SeqW-1:0] expected_i,
  input  logic            reject_i,

  output logic            repeat_o,   // the frame that begins was sent before
  output logic            timeout_o,
  output logic            error_o
);
  localparam int unsigned TimerW = $clog2(Timeout + 1);
  localparam int unsigned PatienceW = $clog2(Patience + 1);

  // Acknowledged before; the first that was never sent.
  logic [SeqW-1:0] acked_q, keep_q, next_q, unsent_q, newly;
  logic [TimerW-1:0] timer_q;
  logic [PatienceW-1:0] timeouts_q;
  logic back_q, progress, waiting, behind;
  logic [SeqW-1:0] ahead;

  // A number outside of what is in flight is old.
  assign newly    = expected_i - acked_q;
  assign progress = heard_i && newly != '0 && newly <= unsent_q - acked_q;
  assign waiting  = unsent_q != acked_q;

  assign ahead    = acked_q - next_q;
  assign behind   = ahead != '0 && !ahead[SeqW-1];
  assign jump_o   = between_i && (behind || back_q);
  assign allow_o  = between_i && !jump_o && next_q - acked_q < SeqW'(Frames);
  assign next_o   = next_q;
  assign keep_o   = keep_q;
  assign repeat_o = begin_i && next_q != unsent_q;

  assign jump_to_o = acked_q;

  assign timeout_o = waiting && timer_q == TimerW'(Timeout);
  assign error_o   = timeouts_q == PatienceW'(Patience);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      acked_q    <= '0;
      keep_q     <= '0;
      next_q     <= '0;
      unsent_q   <= '0;
      timer_q    <= '0;
      timeouts_q <= '0;
      back_q     <= 1'b0;
    end else begin
      if (progress) acked_q <= expected_i;
      if (between_i) keep_q <= acked_q;

      if (jump_o) next_q <= acked_q;
      else if (end_i) next_q <= next_q + 1'b1;
      if (begin_i && next_q == unsent_q) unsent_q <= unsent_q + 1'b1;
      back_q <= (heard_i && reject_i) || timeout_o || (back_q && !jump_o);

      if (progress || !waiting || timeout_o) timer_q <= '0;
      else timer_q <= timer_q + 1'b1;
      if (progress) timeouts_q <= '0;
      else if (timeout_o && !error_o) timeouts_q <= timeouts_q + 1'b1;
    end
  end
endmodule
