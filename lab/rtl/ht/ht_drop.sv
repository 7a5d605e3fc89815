// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Takes posted packets that are for nobody, with their data. A command stays until its data has gone: the data of the
// next one cannot be taken for its own.

module ht_drop (
  input  logic cmd_valid_i,
  input  logic has_data_i,
  output logic cmd_pop_o,
  input  logic data_valid_i,
  input  logic data_last_i,
  output logic data_pop_o
);
  assign data_pop_o = cmd_valid_i && has_data_i && data_valid_i;
  assign cmd_pop_o  = cmd_valid_i && (!has_data_i || (data_valid_i && data_last_i));
endmodule
