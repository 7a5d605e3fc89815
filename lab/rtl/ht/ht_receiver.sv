// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// From the pins to dwords in the core's clock: deserialiser, synchronising FIFO, CRC check. One dword each clock
// where 8 bits are in use, two where 16 are.

module ht_receiver #(
  parameter int unsigned Width = 8
) (
  input  logic               core_clk_i,
  input  logic               core_rst_ni,
  input  logic               rx_clk_i,
  input  logic               rx_rst_ni,
  input  logic               rx_ctl_i,
  input  logic [Width-1:0]   rx_cad_i,
  input  logic               wide_i,       // 16 bits are in use
  output logic               ctl_seen_o,
  output logic               running_o,
  output logic [Width/8-1:0] valid_o,
  output logic [Width/8-1:0] ctl_o,
  output logic [4*Width-1:0] dword_o,
  output logic [Width/8-1:0] crc_error_o,  // of each lane, for one clock
  output logic               ctl_error_o,  // CTL has changed inside a dword, or is not set in a CRC
  output logic               overflow_o    // words have come faster than the core's clock
);
  localparam int unsigned Lanes = Width / 8;
  localparam int unsigned WordW = 4 * Width + 4;

  logic fifo_wvalid, fifo_wready, fifo_rvalid, ctl_seen, running, overflow_q;
  logic [WordW-1:0] fifo_wdata, fifo_rdata;

  ht_deserialiser #(
    .Width(Width)
  ) u_deserialiser (
    .clk_i     (rx_clk_i),
    .rst_ni    (rx_rst_ni),
    .ctl_i     (rx_ctl_i),
    .cad_i     (rx_cad_i),
    .valid_o   (fifo_wvalid),
    .word_o    (fifo_wdata),
    .ctl_seen_o(ctl_seen),
    .running_o (running)
  );

  always_ff @(posedge rx_clk_i or negedge rx_rst_ni) begin
    if (!rx_rst_ni) overflow_q <= 1'b0;
    else if (fifo_wvalid && !fifo_wready) overflow_q <= 1'b1;
  end

  async_fifo #(
    .Width(WordW),
    .Depth(8)
  ) u_fifo (
    .wclk_i  (rx_clk_i),
    .wrst_ni (rx_rst_ni),
    .wvalid_i(fifo_wvalid),
    .wready_o(fifo_wready),
    .wdata_i (fifo_wdata),
    .rclk_i  (core_clk_i),
    .rrst_ni (core_rst_ni),
    .rvalid_o(fifo_rvalid),
    .rready_i(1'b1),
    .rdata_o (fifo_rdata)
  );

  // Three levels that stay; each is on its own.
  synchroniser #(
    .Width(3)
  ) u_levels (
    .clk_i (core_clk_i),
    .rst_ni(core_rst_ni),
    .d_i   ({ctl_seen, running, overflow_q}),
    .q_o   ({ctl_seen_o, running_o, overflow_o})
  );

  logic valid_q, slot;
  logic [WordW-1:0] word_q;
  logic [4*Width-1:0] crc;
  logic [3:0] ctl;

  always_ff @(posedge core_clk_i or negedge core_rst_ni) begin
    if (!core_rst_ni) valid_q <= 1'b0;
    else valid_q <= fifo_rvalid;
  end

  always_ff @(posedge core_clk_i) word_q <= fifo_rdata;

  ht_crc_window #(
    .Width(Width)
  ) u_window (
    .clk_i  (core_clk_i),
    .rst_ni (core_rst_ni),
    .valid_i(valid_q),
    .word_i (word_q),
    .slot_o (slot),
    .crc_o  (crc)
  );

  // The comparison has a clock of its own: nothing waits for it.
  logic [4*Width-1:0] differs_q;
  logic compare_q;

  always_ff @(posedge core_clk_i or negedge core_rst_ni) begin
    if (!core_rst_ni) compare_q <= 1'b0;
    else compare_q <= valid_q && slot;
  end

  always_ff @(posedge core_clk_i) differs_q <= word_q[4*Width-1:0] ^ crc;

  for (genvar lane = 0; lane < Lanes; lane++) begin : gen_compare
    logic [31:0] of_lane;
    for (genvar t = 0; t < 4; t++) begin : gen_time
      assign of_lane[8*t+:8] = differs_q[Width*t+8*lane+:8];
    end
    assign crc_error_o[lane] = compare_q && of_lane != '0 && (lane == 0 || wide_i);
  end

  assign ctl = word_q[4*Width+:4];

  if (Lanes == 1) begin : gen_dword
    logic unused_wide;
    assign unused_wide = wide_i;
    assign dword_o     = word_q[31:0];
    assign ctl_o       = ctl[0];
    assign valid_o     = valid_q && !slot;
    assign ctl_error_o = valid_q && ctl != 4'hf && (slot || ctl != 4'h0);
  end else begin : gen_dwords
    assign dword_o     = wide_i ? word_q[63:0] :
                         {32'd0, word_q[55:48], word_q[39:32], word_q[23:16], word_q[7:0]};
    assign ctl_o       = {ctl[2], ctl[0]};
    assign valid_o     = {wide_i, 1'b1} & {2{valid_q && !slot}};
    assign ctl_error_o = valid_q && (slot ? ctl != 4'hf :
                         (ctl[0] != ctl[1] || ctl[2] != ctl[3] || (!wide_i && ctl[0] != ctl[2])));
  end
endmodule
