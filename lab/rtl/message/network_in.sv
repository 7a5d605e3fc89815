// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Network port, from the network: words of 18 bits become words of 64 bits while they come. A message can be taken as a
// whole, once its frame was good. One for another board is forgotten.

module network_in #(
  parameter int unsigned Messages = 8
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic [net_pkg::BoardW-1:0] own_i,

  input  logic                       push_i,
  input  logic [net_pkg::PhitW-1:0]  phit_i,
  input  logic                       commit_i,
  input  logic                       rollback_i,
  output logic                       overflow_o,

  // A message, and its words.
  output logic                       valid_o,
  output logic [net_pkg::BoardW-1:0] source_o,
  output logic [6:0]                 bytes_o,
  input  logic                       ready_i,
  output logic                       word_valid_o,
  output logic [63:0]                word_o,
  input  logic                       word_ready_i,

  output logic                       stray_o   // one for another board
);
  localparam int unsigned DepthW = $clog2(Messages + 1);

  // The message at hand.
  logic [15:0] header_q;
  logic [6:0] bytes_q;
  logic [47:0] word_q;
  logic [1:0] at_q;
  logic [63:0] word;
  logic is_head, word_push, mine, keep, words_overflow, room;
  logic [DepthW-1:0] depth;

  assign is_head   = phit_i[17:16] == net_pkg::Head;
  assign word_push = push_i && !is_head && (at_q == 2'd3 || phit_i[17:16] == net_pkg::Last);
  assign mine      = header_q[6:0] == own_i;
  assign keep      = commit_i && mine;
  assign stray_o   = commit_i && !mine;

  // Zeros behind the end.
  always_comb begin
    unique case (at_q)
      2'd0: word = {48'd0, phit_i[15:0]};
      2'd1: word = {32'd0, phit_i[15:0], word_q[15:0]};
      2'd2: word = {16'd0, phit_i[15:0], word_q[31:0]};
      default: word = {phit_i[15:0], word_q};
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (push_i && is_head) begin
      header_q <= phit_i[15:0];
      bytes_q  <= '0;
      at_q     <= '0;
    end else if (push_i) begin
      bytes_q <= bytes_q + 7'd2;
      at_q    <= at_q + 2'd1;
      word_q  <= word[47:0];
    end
  end

  net_fifo #(
    .Width(64),
    .Words(8 * Messages)
  ) u_words (
    .clk_i,
    .rst_ni,
    .push_i    (word_push),
    .data_i    (word),
    .commit_i  (keep),
    .rollback_i(rollback_i || stray_o),
    .overflow_o(words_overflow),
    .valid_o   (word_valid_o),
    .data_o    (word_o),
    .ready_i   (word_ready_i)
  );

  fifo #(
    .Width(net_pkg::BoardW + 7),
    .Depth(Messages)
  ) u_messages (
    .clk_i,
    .rst_ni,
    .wvalid_i(keep),
    .wready_o(room),
    .wdata_i ({header_q[13:7], bytes_q - {6'd0, header_q[14]}}),
    .rvalid_o(valid_o),
    .rready_i(ready_i),
    .rdata_o ({source_o, bytes_o}),
    .depth_o (depth)
  );

  assign overflow_o = words_overflow || !room;

  logic unused;
  assign unused = &{depth, header_q[15]};
endmodule
