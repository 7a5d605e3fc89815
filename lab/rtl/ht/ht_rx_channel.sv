// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Received packets of one channel. Commands for the user's logic go to it, others to the core itself, in the order in
// which they came. Data belongs to the command before it: it is there after its command has been taken.

module ht_rx_channel #(
  parameter int unsigned Depth = 32,
  parameter int unsigned Ports = 1
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic [Ports-1:0]                cmd_write_i,
  input  logic [Ports*ht_pkg::RxCmdW-1:0] cmd_i,
  input  logic [Ports-1:0]                data_write_i,
  input  logic [Ports-1:0]                data_high_i,
  input  logic [Ports-1:0]                data_last_i,
  input  logic [32*Ports-1:0]             data_i,
  output logic                            overflow_o,

  // The user's logic.
  output logic                            user_cmd_valid_o,
  output logic [ht_pkg::CmdW-1:0]         user_cmd_o,
  input  logic                            user_cmd_ready_i,
  output logic                            user_data_valid_o,
  output logic [63:0]                     user_data_o,
  output logic                            user_data_last_o,
  input  logic                            user_data_ready_i,

  // The core. It takes the data of a command to its end before the next command.
  output logic                            own_cmd_valid_o,
  output logic                            own_cmd_config_o,  // for the configuration space; else for nobody
  output logic [63:0]                     own_cmd_o,
  input  logic                            own_cmd_pop_i,
  output logic                            own_data_valid_o,
  input  logic                            own_data_pop_i,

  // Buffers that are free again.
  output logic                            cmd_free_o,
  output logic                            data_free_o
);
  localparam int unsigned OwedW = $clog2(Depth) + 1;

  logic cmd_valid, cmd_pop, cmd_overflow, data_valid, data_pop, data_overflow, user_pop, user_data_pop;
  logic [ht_pkg::RxCmdW-1:0] cmd;
  logic [1:0] taker;
  logic has_data;

  ht_rx_cmd_queue #(
    .Width(ht_pkg::RxCmdW),
    .Depth(Depth),
    .Ports(Ports)
  ) u_cmd (
    .clk_i,
    .rst_ni,
    .write_i   (cmd_write_i),
    .data_i    (cmd_i),
    .valid_o   (cmd_valid),
    .data_o    (cmd),
    .pop_i     (cmd_pop),
    .overflow_o(cmd_overflow)
  );

  // 16 dwords for each command, and one word more, because one is read before it is asked for.
  ht_rx_data_queue #(
    .Words(8 * Depth),
    .Ports(Ports)
  ) u_data (
    .clk_i,
    .rst_ni,
    .write_i   (data_write_i),
    .high_i    (data_high_i),
    .last_i    (data_last_i),
    .data_i,
    .valid_o   (data_valid),
    .data_o    (user_data_o),
    .last_o    (user_data_last_o),
    .pop_i     (data_pop),
    .overflow_o(data_overflow)
  );

  // Packets whose command the user has, but not all of their data.
  logic [OwedW-1:0] owed_q;
  logic owed_more, owed_less;

  assign taker    = cmd[ht_pkg::RxCmdW-1-:2];
  assign has_data = ht_pkg::has_data(cmd[5:0]);

  assign user_cmd_valid_o  = cmd_valid && taker == ht_pkg::ForUser;
  assign user_cmd_o        = {6'd0, cmd[ht_pkg::CmdBar:0]};
  assign user_pop          = user_cmd_valid_o && user_cmd_ready_i;
  assign user_data_valid_o = data_valid && owed_q != '0;
  assign user_data_pop     = user_data_valid_o && user_data_ready_i;

  assign own_cmd_valid_o  = cmd_valid && taker != ht_pkg::ForUser && owed_q == '0;
  assign own_cmd_config_o = taker == ht_pkg::ForConfig;
  assign own_cmd_o        = cmd[63:0];
  assign own_data_valid_o = data_valid && owed_q == '0;

  assign cmd_pop     = user_pop || own_cmd_pop_i;
  assign data_pop    = user_data_pop || own_data_pop_i;
  assign cmd_free_o  = cmd_pop;
  assign data_free_o = data_pop && user_data_last_o;
  assign overflow_o  = cmd_overflow || data_overflow;

  assign owed_more = user_pop && has_data;
  assign owed_less = user_data_pop && user_data_last_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) owed_q <= '0;
    else if (owed_more && !owed_less) owed_q <= owed_q + 1'b1;
    else if (owed_less && !owed_more) owed_q <= owed_q - 1'b1;
  end
endmodule
