// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What goes to the serialiser: packets with the periodic CRC between them, the pattern of initialisation, or Sync
// without end.

module ht_transmitter #(
  parameter int unsigned Width = 8
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [1:0]         pattern_i,    // see ht_init
  input  logic               run_i,        // packets
  input  logic               flood_i,
  input  logic               force_error_i, // a wrong CRC, for tests of the partner
  input  logic               wide_i,
  output logic               hold_o,       // a CRC stands here: the dwords wait
  input  logic [Width/8-1:0] ctl_i,
  input  logic [4*Width-1:0] dword_i,
  output logic [4*Width+3:0] word_o
);
  logic [4*Width+3:0] word, packet;
  logic [4*Width-1:0] crc, lanes, pattern_cad;
  logic slot, run_q, pattern_ctl;

  // Only lanes in use are driven.
  if (Width == 8) begin : gen_narrow
    logic unused_wide;
    assign unused_wide = wide_i;
    assign lanes       = '1;
    assign packet      = {{4{ctl_i[0]}}, dword_i};
  end else begin : gen_wide
    assign lanes  = {4{{8{wide_i}}, 8'hff}};
    assign packet = wide_i ? {{2{ctl_i[1]}}, {2{ctl_i[0]}}, dword_i} :
                    {{4{ctl_i[0]}}, 8'd0, dword_i[31:24], 8'd0, dword_i[23:16],
                     8'd0, dword_i[15:8], 8'd0, dword_i[7:0]};
  end

  ht_crc_window #(
    .Width(Width)
  ) u_window (
    .clk_i,
    .rst_ni,
    .valid_i(run_q),
    .word_i (packet),
    .slot_o (slot),
    .crc_o  (crc)
  );

  // The output generator has a register, so packets come one clock after `run_i`.
  assign hold_o      = slot && run_q;
  assign pattern_ctl = pattern_i == 2'd1;
  assign pattern_cad = pattern_i == 2'd2 ? '0 : lanes;

  always_comb begin
    word = {{4{pattern_ctl}}, pattern_cad};
    if (flood_i) word = {4'hf, lanes};
    else if (run_q && slot) word = {4'hf, (crc ^ {4*Width{force_error_i}}) & lanes};
    else if (run_q) word = packet;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) run_q <= 1'b0;
    else run_q <= run_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) word_o <= {4'h0, {4*Width{1'b1}}};
    else word_o <= word;
  end
endmodule
