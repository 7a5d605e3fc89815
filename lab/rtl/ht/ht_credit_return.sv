// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Buffers of one kind that are free here and that the partner does not know of. All are, after reset; later those that
// packets have left. A NOP tells of at most 3.

module ht_credit_return #(
  parameter int unsigned Buffers = 32
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       free_i,     // a packet has left a buffer
  input  logic       sent_i,     // a NOP takes `field_o` with it
  output logic [1:0] field_o,
  output logic       some_o,
  output logic       many_o      // a whole field, or more
);
  localparam int unsigned CountW = $clog2(Buffers + 1);

  logic [CountW-1:0] count_q, count_d;

  assign field_o = count_q > CountW'(3) ? 2'd3 : count_q[1:0];
  assign some_o  = count_q != '0;
  assign many_o  = count_q >= CountW'(3);
  assign count_d = count_q + CountW'(free_i) - (sent_i ? CountW'(field_o) : CountW'(0));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= CountW'(Buffers);
    else count_q <= count_d;
  end
endmodule
