// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Buffers of one kind that the partner has free: NOPs add 0 to 3 each, a packet that is sent takes one. A count past
// the end of the counter is not kept, as in the specification: more buffers than that are never used.

module ht_credit_grant #(
  parameter int unsigned Width = 6
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [2:0] add_i,      // of all NOPs of a clock, 0 to 6
  input  logic       take_i,     // only while available
  output logic       available_o
);
  logic [Width-1:0] count_q;
  logic [Width:0] sum;

  assign available_o = count_q != '0;
  assign sum = {1'b0, count_q} + (Width + 1)'(add_i) - (Width + 1)'(take_i && available_o);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else count_q <= sum[Width] ? '1 : sum[Width-1:0];
  end
endmodule
