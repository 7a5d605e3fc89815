// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Answers non-posted requests that are not for the user's logic, one at a time: reads and writes of the configuration
// space, and requests that nobody takes (master abort). A read of more than one dword of the configuration space is a
// target abort.

module ht_config (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        cmd_valid_i,
  input  logic        cmd_config_i,
  input  logic [63:0] cmd_i,
  output logic        cmd_pop_o,
  input  logic        data_valid_i,
  input  logic [63:0] data_i,
  input  logic        data_last_i,
  output logic        data_pop_o,

  input  logic [4:0]  unit_i,
  output logic [5:0]  addr_o,        // of a dword
  output logic [3:0]  write_o,
  output logic [31:0] wdata_o,
  input  logic [31:0] rdata_i,

  output logic        answer_valid_o,
  output logic [31:0] answer_o,
  output logic [31:0] answer_data_o,
  input  logic        answer_pop_i
);
  localparam logic [1:0] Idle = 2'd0;
  localparam logic [1:0] Drain = 2'd1;
  localparam logic [1:0] Answer = 2'd2;

  logic [1:0] state_q, state_d;
  logic [31:0] answer_q, answer_data_q;
  logic [4:0] block;

  logic is_read, is_dword, mine, short_read, first_q, abort_master, abort_target, writes;

  assign is_read    = cmd_i[5:4] == ht_pkg::CmdRead;
  assign is_dword   = cmd_i[2];
  assign short_read = !is_dword || cmd_i[25:22] == 4'd0;
  // Address bits 24 (type 1), 15:11 (device) and 10:8 (function); bits 39:32 of the command are bits 15:8.
  assign mine         = cmd_config_i && !cmd_i[48] && cmd_i[39:35] == unit_i && cmd_i[34:32] == 3'd0;
  assign abort_master = !mine;
  assign abort_target = mine && is_read && !short_read;
  assign addr_o       = cmd_i[31:26];

  // A byte write has its mask in the first dword: 32 bits for 32 bytes.
  assign block   = {cmd_i[28:26], 2'b00};
  assign writes  = state_q == Drain && data_valid_i && first_q && mine;
  assign wdata_o = is_dword ? data_i[31:0] : data_i[63:32];
  assign write_o = !writes ? 4'd0 : is_dword ? 4'hf : data_i[{1'b0, block}+:4];

  assign cmd_pop_o  = (state_q == Idle && cmd_valid_i && is_read) ||
                      (state_q == Drain && data_valid_i && data_last_i);
  assign data_pop_o = state_q == Drain && data_valid_i;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: if (cmd_valid_i) state_d = is_read ? Answer : Drain;
      Drain: if (data_valid_i && data_last_i) state_d = Answer;
      Answer: if (answer_pop_i) state_d = Idle;
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      first_q <= 1'b0;
    end else begin
      state_q <= state_d;
      first_q <= state_q == Idle || (first_q && !data_valid_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle && cmd_valid_i) begin
      answer_q      <= ht_pkg::response(cmd_i[31:0], unit_i, abort_master, abort_master || abort_target);
      answer_data_q <= mine && is_read && short_read ? rdata_i : '1;
    end
  end

  assign answer_valid_o = state_q == Answer;
  assign answer_o       = answer_q;
  assign answer_data_o  = answer_data_q;

  logic unused;
  assign unused = &{cmd_i[63:49], cmd_i[47:40]};
endmodule
