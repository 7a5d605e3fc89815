// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Collects the symbols of the lanes into quads, so that a frame begins at the start of a quad.
//
// With four lanes and more it always does. With fewer a quad begins anew at each STP and SDP, or with
// generation 3 at the first symbol between frames that is not idle.

module pcie_lane_rx #(
  parameter int unsigned Lanes = 4,
  localparam int unsigned Dwords = (Lanes > 4) ? 2 : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 gen3_i,
  input  logic                 restart_i,

  // Low while the physical layer receives something else than frames: ordered sets, and nothing.
  input  logic                 symbol_valid_i,
  input  logic [8*Lanes-1:0]   symbol_data_i,
  input  logic [Lanes-1:0]     symbol_k_i,

  output logic                 quad_valid_o,
  output logic [32*Dwords-1:0] quad_data_o,
  output logic [4*Dwords-1:0]  quad_k_o,
  // Behind the quad of this cycle no frame is open.
  input  logic                 between_i
);

  localparam int unsigned Steps = 4 * Dwords / Lanes;
  localparam int unsigned StepW = (Steps > 1) ? $clog2(Steps) : 1;

  logic [32*Dwords-1:0] data_q;
  logic [4*Dwords-1:0]  k_q;
  logic [StepW-1:0]     step_q, step;
  logic                 valid_q, begins, idle;

  // Only the first lane has the symbols that begin a frame.
  assign begins = !gen3_i & symbol_k_i[0] &
                  ((symbol_data_i[7:0] == pcie_pkg::Stp) | (symbol_data_i[7:0] == pcie_pkg::Sdp));
  assign idle   = gen3_i & between_i & (step_q == '0) & (symbol_data_i == '0) & (Steps > 1);
  assign step   = begins ? '0 : step_q;

  assign quad_valid_o = valid_q;
  assign quad_data_o  = data_q;
  assign quad_k_o     = k_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      data_q  <= '0;
      k_q     <= '0;
      step_q  <= '0;
      valid_q <= 1'b0;
    end else if (restart_i) begin
      step_q  <= '0;
      valid_q <= 1'b0;
    end else begin
      valid_q <= symbol_valid_i & !idle & (step == StepW'(Steps - 1));
      if (symbol_valid_i & !idle) begin
        data_q[8*Lanes*step +: 8*Lanes] <= symbol_data_i;
        k_q[Lanes*step +: Lanes]        <= symbol_k_i;
        step_q                          <= (step == StepW'(Steps - 1)) ? '0 : step + 1'b1;
      end
    end
  end

endmodule
