// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Takes posted packets that are for nobody, with their data.

module ht_drop (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic cmd_valid_i,
  input  logic has_data_i,
  output logic cmd_pop_o,
  input  logic data_valid_i,
  input  logic data_last_i,
  output logic data_pop_o
);
  logic data_q;

  assign cmd_pop_o  = cmd_valid_i && !data_q;
  assign data_pop_o = data_q && data_valid_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) data_q <= 1'b0;
    else if (cmd_pop_o) data_q <= has_data_i;
    else if (data_pop_o && data_last_i) data_q <= 1'b0;
  end
endmodule
