// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// TLPs that arrived, until the transaction layer takes them; TLPs whose LCRC is not known yet.
//
// What is written counts once the TLP is complete. What leaves gives its credits back.

module pcie_rx_buffer #(
  parameter int unsigned Dwords = 1,
  // Beats; a power of two. All credits that were given, and two beats.
  parameter int unsigned Words  = 1024
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 wvalid_i,
  input  logic [32*Dwords-1:0] wdata_i,
  input  logic [Dwords-1:0]    wkeep_i,
  input  logic                 wlast_i,
  // What was written since the last beat of a TLP does not count. If a last beat comes with it, this means the
  // TLP behind, of which nothing was written yet.
  input  logic                 wdrop_i,
  // There is room for two beats.
  output logic                 wroom_o,

  output logic                 rvalid_o,
  input  logic                 rready_i,
  output logic [32*Dwords-1:0] rdata_o,
  output logic [Dwords-1:0]    rkeep_o,
  output logic                 rlast_o,

  // A TLP has left.
  output logic                 free_valid_o,
  output logic [1:0]           free_class_o,
  output logic [8:0]           free_data_o
);

  localparam int unsigned AddrW = $clog2(Words);
  localparam int unsigned Width = 33 * Dwords + 1;

  logic [Width-1:0] storage [Words];
  // Pointers with a bit that tells apart full and empty: next beat to write, end of the complete TLPs, next
  // beat to read.
  logic [AddrW:0]   wptr_q, complete_q, rptr_q;
  logic [Width-1:0] rword_q;
  logic             rvalid_q, first_q, write, fetch;
  logic [1:0]       class_q, class_now;
  logic [8:0]       cost_q, cost_now;

  assign wroom_o = (wptr_q - rptr_q <= (AddrW+1)'(Words - 2));
  assign write   = wvalid_i & (wptr_q - rptr_q != (AddrW+1)'(Words));
  assign fetch   = (!rvalid_q | rready_i) & (rptr_q != complete_q);

  assign rvalid_o = rvalid_q;
  assign {rlast_o, rkeep_o, rdata_o} = rword_q;

  assign class_now    = first_q ? pcie_pkg::tlp_class(rdata_o[31:0]) : class_q;
  assign cost_now     = first_q ? pcie_pkg::data_credits(rdata_o[31:0]) : cost_q;
  assign free_valid_o = rvalid_q & rready_i & rlast_o;
  assign free_class_o = class_now;
  assign free_data_o  = cost_now;

  always_ff @(posedge clk_i) begin
    if (write) storage[wptr_q[AddrW-1:0]] <= {wlast_i, wkeep_i, wdata_i};
    if (fetch) rword_q <= storage[rptr_q[AddrW-1:0]];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wptr_q     <= '0;
      complete_q <= '0;
      rptr_q     <= '0;
      rvalid_q   <= 1'b0;
      first_q    <= 1'b1;
      class_q    <= '0;
      cost_q     <= '0;
    end else begin
      if (wdrop_i & !(write & wlast_i)) wptr_q <= complete_q;
      else if (write) wptr_q <= wptr_q + 1'b1;
      if (write & wlast_i) complete_q <= wptr_q + 1'b1;

      if (fetch) rptr_q <= rptr_q + 1'b1;
      if (!rvalid_q | rready_i) rvalid_q <= fetch;
      if (rvalid_q & rready_i) first_q <= rlast_o;
      class_q <= class_now;
      cost_q  <= cost_now;
    end
  end

endmodule
