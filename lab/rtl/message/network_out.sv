// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Network port, to the network: words of 64 bits become words of 18 bits, a header first.

module network_out (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic [net_pkg::BoardW-1:0] source_i,

  input  logic                       valid_i,
  input  logic [net_pkg::BoardW-1:0] destination_i,
  input  logic [6:0]                 bytes_i,
  input  logic                       masked_i,     // the first 32 bits of the first word are no data
  output logic                       ready_o,
  input  logic                       word_valid_i,
  input  logic [63:0]                word_i,
  output logic                       word_ready_o,
  output logic                       end_o,        // the last word is read

  output logic                       valid_o,
  output logic [net_pkg::PhitW-1:0]  phit_o,
  input  logic                       ready_i
);
  logic [6:0] left_q;  // bytes of the message; 0 between two
  logic [1:0] at_q;    // quarter of the word
  logic idle, last, odd, step;
  logic [15:0] quarter;

  assign idle    = left_q == '0;
  assign last    = left_q <= 7'd2;
  assign odd     = left_q == 7'd1;
  assign quarter = word_i[{at_q, 4'd0}+:16];

  assign valid_o = idle ? valid_i : word_valid_i;
  assign phit_o  = idle ? {net_pkg::Head, 1'b0, bytes_i[0], source_i, destination_i} :
                          {last ? net_pkg::Last : net_pkg::Body, odd ? 8'd0 : quarter[15:8], quarter[7:0]};
  assign ready_o = idle && ready_i;

  assign step         = !idle && word_valid_i && ready_i;
  assign word_ready_o = step && (at_q == 2'd3 || last);
  assign end_o        = step && last;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) left_q <= '0;
    else if (idle && valid_i && ready_i) left_q <= bytes_i;
    else if (step) left_q <= last ? '0 : left_q - 7'd2;
  end

  always_ff @(posedge clk_i) begin
    if (idle) at_q <= {masked_i, 1'b0};
    else if (step) at_q <= at_q + 2'd1;
  end
endmodule
