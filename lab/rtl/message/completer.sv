// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Writes messages into a ring of slots of 128 bytes in the memory of the host: the message at the beginning of its slot,
// in whole dwords, then the status line 64 bytes above: count, source, length. Whether a slot is free is a matter of software.

module completer (
  input  logic                       clk_i,
  input  logic                       rst_ni,

  input  logic                       enable_i,
  input  logic [4:0]                 unit_i,
  input  logic [63:7]                base_i,
  input  logic [15:0]                slots_i,
  output logic [31:0]                count_o,   // messages that were written

  input  logic                       valid_i,
  input  logic [net_pkg::BoardW-1:0] source_i,
  input  logic [6:0]                 bytes_i,
  output logic                       ready_o,
  input  logic                       word_valid_i,
  input  logic [63:0]                word_i,
  output logic                       word_ready_o,

  output logic                       cmd_valid_o,
  output logic [ht_pkg::CmdW-1:0]    cmd_o,
  input  logic                       cmd_ready_i,
  output logic                       data_valid_o,
  output logic [63:0]                data_o,
  input  logic                       data_ready_i
);
  localparam logic [3:0] StatusDwords = 4'd3;  // one less

  logic [31:0] count_q, next_count;
  logic [15:0] slot_q;
  logic [1:0] cmds_q;   // commands that were handed over
  logic [3:0] words_q;  // words that were handed over
  logic [3:0] words;
  logic run, begun_q, status_word, done;
  logic [63:7] line;
  logic [6:0] padded;

  assign next_count = count_q + 32'd1;
  assign run        = begun_q || (valid_i && enable_i);

  // Commands: message, status.
  assign padded      = bytes_i + 7'd3;
  assign line        = base_i + {41'd0, slot_q};
  assign cmd_valid_o = run && cmds_q != 2'd2;
  assign cmd_o       = {7'd0, line[63:40] != '0, line[63:40], line[39:8],
                        line[7], cmds_q[0], 4'd0, cmds_q[0] ? StatusDwords : 4'(padded[6:2] - 5'd1),
                        6'd0, 1'b0, 2'd0, unit_i, 2'd0, ht_pkg::CmdWritePosted, 3'b100};

  // Data: words of the message, two of the status.
  assign words        = 4'((bytes_i + 7'd7) >> 3);
  assign status_word  = words_q >= words;
  assign data_valid_o = run && (status_word ? words_q != words + 4'd2 : word_valid_i);
  assign data_o       = !status_word ? word_i :
                        words_q == words ? {9'd0, bytes_i, 9'd0, source_i, next_count} : '0;
  assign word_ready_o = run && !status_word && data_ready_i;

  assign done    = run && cmds_q == 2'd2 && words_q == words + 4'd2;
  assign ready_o = done;
  assign count_o = count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      slot_q  <= '0;
      cmds_q  <= '0;
      words_q <= '0;
      begun_q <= 1'b0;
    end else begin
      begun_q <= run && !done;
      if (done) begin
        count_q <= next_count;
        slot_q  <= slot_q + 16'd1 >= slots_i ? '0 : slot_q + 16'd1;
        cmds_q  <= '0;
        words_q <= '0;
      end else begin
        if (cmd_valid_o && cmd_ready_i) cmds_q <= cmds_q + 2'd1;
        if (data_valid_o && data_ready_i) words_q <= words_q + 4'd1;
      end
    end
  end

  logic unused;
  assign unused = &padded[1:0];
endmodule
