// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// FIFO between two clocks. Pointers cross as Gray codes through synchronisers; the memory is written by
// one clock and read without a register by the other, after the pointer has crossed. An entry can be read
// at the second or third edge of rclk_i after the edge of wclk_i that wrote it.
//
// Depth is a power of two, 4 or more. Both resets have to be active together.

module async_fifo #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 8
) (
  input  logic             wclk_i,
  input  logic             wrst_ni,
  input  logic             wvalid_i,
  output logic             wready_o,
  input  logic [Width-1:0] wdata_i,

  input  logic             rclk_i,
  input  logic             rrst_ni,
  output logic             rvalid_o,
  input  logic             rready_i,
  output logic [Width-1:0] rdata_o
);
  localparam int unsigned AddrW = $clog2(Depth);

  (* ram_style = "distributed" *) logic [Width-1:0] mem [Depth];

  logic [AddrW:0] wptr_q, wptr_d, wgray_q, wgray_seen;
  logic [AddrW:0] rptr_q, rptr_d, rgray_q, rgray_seen;
  logic write, read;

  // Writing side. Full: the Gray codes differ in exactly their two upper bits.
  assign wready_o = wgray_q != {~rgray_seen[AddrW:AddrW-1], rgray_seen[AddrW-2:0]};
  assign write    = wvalid_i && wready_o;
  assign wptr_d   = wptr_q + {{AddrW{1'b0}}, write};

  always_ff @(posedge wclk_i or negedge wrst_ni) begin
    if (!wrst_ni) begin
      wptr_q  <= '0;
      wgray_q <= '0;
    end else begin
      wptr_q  <= wptr_d;
      wgray_q <= wptr_d ^ (wptr_d >> 1);
    end
  end

  always_ff @(posedge wclk_i) begin
    if (write) mem[wptr_q[AddrW-1:0]] <= wdata_i;
  end

  synchroniser #(
    .Width(AddrW + 1)
  ) u_rgray (
    .clk_i (wclk_i),
    .rst_ni(wrst_ni),
    .d_i   (rgray_q),
    .q_o   (rgray_seen)
  );

  // Reading side.
  assign rvalid_o = rgray_q != wgray_seen;
  assign read     = rvalid_o && rready_i;
  assign rptr_d   = rptr_q + {{AddrW{1'b0}}, read};
  assign rdata_o  = mem[rptr_q[AddrW-1:0]];

  always_ff @(posedge rclk_i or negedge rrst_ni) begin
    if (!rrst_ni) begin
      rptr_q  <= '0;
      rgray_q <= '0;
    end else begin
      rptr_q  <= rptr_d;
      rgray_q <= rptr_d ^ (rptr_d >> 1);
    end
  end

  synchroniser #(
    .Width(AddrW + 1)
  ) u_wgray (
    .clk_i (rclk_i),
    .rst_ni(rrst_ni),
    .d_i   (wgray_q),
    .q_o   (wgray_seen)
  );
endmodule
