// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Takes both bit-times of a clock: what is on the pins at its rising edge and at the falling edge after it. Both can
// be used at the next rising edge. In a device, its own input cell stands here (Virtex-4: ISERDES or IDDR).

module ht_ddr_in #(
  parameter int unsigned Width = 9
) (
  input  logic             clk_i,
  input  logic [Width-1:0] pins_i,
  output logic [Width-1:0] rise_o,
  output logic [Width-1:0] fall_o
);
  always_ff @(posedge clk_i) rise_o <= pins_i;
  always_ff @(negedge clk_i) fall_o <= pins_i;
endmodule
