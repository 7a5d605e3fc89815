// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Makes messages of posted writes into the send window: bits 12 and up of the offset are the destination, the data is
// the message. A masked write ends with its last enabled byte. The data stays in the HT-Core until the network port
// takes it. A write that is no message is dropped: one without an enabled byte, or whose data is marked as damaged.

module requester #(
  parameter int unsigned WindowW = 19  // log2 of the bytes of the window
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,

  input  logic                       cmd_valid_i,
  input  logic [ht_pkg::CmdW-1:0]    cmd_i,
  output logic                       cmd_ready_o,
  input  logic                       data_valid_i,
  input  logic [63:0]                data_i,
  input  logic                       data_last_i,
  output logic                       data_ready_o,
  output logic                       busy_o,

  // A message: where it goes, its bytes, and whether the mask stands before it. Its words follow.
  output logic                       valid_o,
  output logic [net_pkg::BoardW-1:0] destination_o,
  output logic [6:0]                 bytes_o,
  output logic                       masked_o,
  input  logic                       ready_i,
  output logic                       word_valid_o,
  output logic [63:0]                word_o,
  input  logic                       word_ready_i,
  input  logic                       end_i,       // the network port needs no more of them

  output logic                       sent_o,
  output logic                       refused_o
);
  localparam logic [1:0] Idle = 2'd0;
  localparam logic [1:0] Header = 2'd1;
  localparam logic [1:0] Words = 2'd2;
  localparam logic [1:0] Drain = 2'd3;

  logic [1:0] state_q, state_d;
  logic [net_pkg::BoardW-1:0] destination_q;
  logic [2:0] block_q;
  logic [3:0] count_q;
  logic masked_q, damaged_q, ended, refuse;
  logic [31:0] enabled;
  logic [5:0] reach;

  // Bytes from the first dword of the write to the last one that is enabled.
  assign enabled = data_i[31:0] >> {block_q, 2'b00};

  always_comb begin
    reach = '0;
    for (int unsigned b = 0; b < 32; b++) begin
      if (enabled[b] && b < 32'({count_q, 2'b00})) reach = 6'(b + 1);
    end
  end

  assign refuse        = damaged_q || (masked_q && reach == '0);
  assign cmd_ready_o   = state_q == Idle;
  assign busy_o        = state_q != Idle;
  assign valid_o       = state_q == Header && !refuse && (!masked_q || data_valid_i);
  assign destination_o = destination_q;
  assign bytes_o       = masked_q ? {1'b0, reach} : {{1'b0, count_q} + 5'd1, 2'b00};
  assign masked_o      = masked_q;
  assign word_valid_o  = state_q == Words && data_valid_i;
  assign word_o        = data_i;
  assign data_ready_o  = (state_q == Words && word_ready_i) || state_q == Drain;
  assign ended         = data_valid_i && data_ready_o && data_last_i;
  assign sent_o        = valid_o && ready_i;
  assign refused_o     = state_q == Header && state_d == Drain;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: if (cmd_valid_i) state_d = Header;
      Header: if (data_valid_i && refuse) state_d = Drain;
              else if (sent_o) state_d = Words;
      Words: if (ended) state_d = Idle;
             else if (end_i) state_d = Drain;
      Drain: if (ended) state_d = Idle;
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= Idle;
    else state_q <= state_d;
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      destination_q <= net_pkg::BoardW'(cmd_i[32+WindowW-9:36]);
      block_q       <= cmd_i[28:26];
      count_q       <= cmd_i[25:22];
      masked_q      <= !cmd_i[2];
      damaged_q     <= cmd_i[20];
    end
  end

  logic unused;
  assign unused = &{cmd_i[ht_pkg::CmdW-1:24+WindowW], cmd_i[35:29], cmd_i[21], cmd_i[19:3], cmd_i[1:0]};
endmodule
