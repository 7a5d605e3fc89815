// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// When to send again what has no Ack, and when to give the link up for retraining.

module pcie_replay_timer #(
  // Cycles without progress until everything is sent again.
  parameter int unsigned Timeout = 1024
) (
  input  logic clk_i,
  input  logic rst_ni,

  // Something was sent that is not acknowledged.
  input  logic waiting_i,
  // An Ack or Nak acknowledged something.
  input  logic progress_i,
  input  logic nak_i,
  // The link is retraining: time stands still.
  input  logic hold_i,

  output logic replay_o,
  output logic timeout_o,
  // The fourth replay in a row without progress.
  output logic retrain_o
);

  localparam int unsigned TimeW = $clog2(Timeout + 1);

  logic [TimeW-1:0] time_q;
  logic [1:0]       replays_q;

  assign timeout_o = waiting_i & !hold_i & (time_q == TimeW'(Timeout));
  assign replay_o  = nak_i | timeout_o;
  assign retrain_o = replay_o & (replays_q == '1) & !progress_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      time_q    <= '0;
      replays_q <= '0;
    end else begin
      if (!waiting_i | progress_i | replay_o | hold_i) time_q <= '0;
      else time_q <= time_q + 1'b1;
      if (progress_i) replays_q <= {1'b0, replay_o};
      else if (replay_o) replays_q <= replays_q + 2'd1;
    end
  end

endmodule
