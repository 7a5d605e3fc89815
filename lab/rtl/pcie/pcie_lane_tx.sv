// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Spreads quads over the lanes, a symbol for each lane in a cycle. Successive symbols go to successive lanes.
// Says when no frame is open, so that the physical layer can send an ordered set instead.

module pcie_lane_tx #(
  // 1, 2, 4 or 8. A beat is one quad, or two with eight lanes.
  parameter int unsigned Lanes = 4,
  localparam int unsigned Dwords = (Lanes > 4) ? 2 : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // Forget what is on its way.
  input  logic                 abort_i,

  output logic                 quad_ready_o,
  input  logic [32*Dwords-1:0] quad_data_i,
  input  logic [4*Dwords-1:0]  quad_k_i,
  // They begin a frame, or are idle.
  input  logic                 quad_between_i,

  // There is always a symbol. While the physical layer sends something else, it is not ready.
  input  logic                 symbol_ready_i,
  output logic [8*Lanes-1:0]   symbol_data_o,
  output logic [Lanes-1:0]     symbol_k_o,
  output logic                 symbol_between_o
);

  localparam int unsigned Steps = 4 * Dwords / Lanes;
  localparam int unsigned StepW = (Steps > 1) ? $clog2(Steps) : 1;

  logic [32*Dwords-1:0] data_q;
  logic [4*Dwords-1:0]  k_q;
  logic [StepW-1:0]     step_q;
  logic                 last_step, between_q;

  assign last_step        = (step_q == StepW'(Steps - 1));
  assign quad_ready_o     = symbol_ready_i & last_step;
  assign symbol_data_o    = data_q[8*Lanes-1:0];
  assign symbol_k_o       = k_q[Lanes-1:0];
  assign symbol_between_o = between_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      data_q    <= '0;
      k_q       <= '0;
      step_q    <= '0;
      between_q <= 1'b1;
    end else if (abort_i) begin
      data_q    <= '0;
      k_q       <= '0;
      step_q    <= '0;
      between_q <= 1'b1;
    end else if (symbol_ready_i) begin
      data_q    <= last_step ? quad_data_i : data_q >> (8 * Lanes);
      k_q       <= last_step ? quad_k_i : k_q >> Lanes;
      step_q    <= last_step ? '0 : step_q + 1'b1;
      between_q <= last_step & quad_between_i;
    end
  end

endmodule
