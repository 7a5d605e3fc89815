// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Initialisation of flow control of virtual channel 0: InitFC1 until the other end has told its credits,
// InitFC2 until it knows ours.

module pcie_fc_init (
  input  logic       clk_i,
  input  logic       rst_ni,

  // From the other end: a flow-control DLLP; a TLP.
  input  logic       fc_i,
  input  logic [1:0] fc_phase_i,
  input  logic [1:0] fc_class_i,
  input  logic       tlp_i,

  // What to send until then, the three classes in turn.
  output logic [1:0] phase_o,
  output logic [1:0] class_o,
  input  logic       taken_i,

  // The credits of DLLPs that come now are the first ones.
  output logic       first_o,
  // TLPs may go.
  output logic       active_o
);

  typedef enum logic [1:0] {
    StInit1,
    StInit2,
    StActive
  } state_e;

  state_e     state_q;
  logic [1:0] class_q;
  // Classes that the other end has told. InitFC2 has gone for all classes; the other end is past InitFC1.
  logic [2:0] told_q;
  logic       round_q, heard_q;

  assign phase_o  = (state_q == StInit1) ? pcie_pkg::FcInit1 : pcie_pkg::FcInit2;
  assign class_o  = class_q;
  assign first_o  = (state_q == StInit1);
  assign active_o = (state_q == StActive);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StInit1;
      class_q <= pcie_pkg::Posted;
      told_q  <= '0;
      round_q <= 1'b0;
      heard_q <= 1'b0;
    end else begin
      if (taken_i) class_q <= (class_q == pcie_pkg::Completion) ? pcie_pkg::Posted : class_q + 2'd1;
      if (fc_i & (fc_phase_i != pcie_pkg::FcUpdate)) told_q[fc_class_i] <= 1'b1;
      if (tlp_i | (fc_i & (fc_phase_i != pcie_pkg::FcInit1))) heard_q <= 1'b1;
      if (taken_i & (class_q == pcie_pkg::Completion)) begin
        if (state_q == StInit1 && told_q == '1) state_q <= StInit2;
        if (state_q == StInit2) round_q <= 1'b1;
      end
      if (state_q == StInit2 && round_q && heard_q) state_q <= StActive;
    end
  end

endmodule
