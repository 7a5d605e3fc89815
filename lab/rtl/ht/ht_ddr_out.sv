// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Puts two bit-times on the pins in one clock: the first while the clock is high. In a device, its own output cell
// stands here (Virtex-4: OSERDES or ODDR). The clock of the link is this clock, a quarter of a period later.

module ht_ddr_out #(
  parameter int unsigned      Width      = 9,
  parameter logic [Width-1:0] ResetValue = '0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] rise_i,
  input  logic [Width-1:0] fall_i,
  output logic [Width-1:0] pins_o
);
  logic [Width-1:0] rise_q, fall_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rise_q <= ResetValue;
      fall_q <= ResetValue;
    end else begin
      rise_q <= rise_i;
      fall_q <= fall_i;
    end
  end

  assign pins_o = clk_i ? rise_q : fall_q;
endmodule
