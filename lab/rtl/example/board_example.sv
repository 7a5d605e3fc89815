// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The example design on the HT-Core: block RAM behind base address 0, registers behind base address 1. The host writes
// and reads both. The user's clock is the core's: half the frequency of the link.

module board_example #(
  parameter int unsigned Width = 8
) (
  input  logic                      core_clk_i,
  input  logic                      tx_clk_i,
  input  logic                      pwrok_i,
  input  logic                      reset_ni,

  input  logic                      rx_clk_i,
  input  logic                      rx_ctl_i,
  input  logic [Width-1:0]          rx_cad_i,
  output logic                      tx_ctl_o,
  output logic [Width-1:0]          tx_cad_o,

  output logic                      link_up_o,
  output logic                      broken_o,
  output logic [Width/8-1:0]        crc_error_o,
  output logic                      protocol_error_o,
  output logic                      overflow_error_o,
  output logic                      dropped_o,
  output logic [4:0]                unit_o,
  output logic                      master_o,
  output logic [3:0]                frequency_o
);
  localparam int unsigned RamW = 14;  // log2 of bytes

  logic [2:0] rx_cmd_valid, rx_cmd_ready, rx_data_valid, rx_data_last, rx_data_ready, tx_cmd_ready, tx_data_ready;
  logic [3*ht_pkg::CmdW-1:0] rx_cmd;
  logic [3*64-1:0] rx_data;
  logic answer_valid, answer_data_valid, rst_n;
  logic [ht_pkg::CmdW-1:0] answer;
  logic [63:0] answer_data;

  ht_core #(
    .Width   (Width),
    .Bar0Bits(RamW),
    .Bar1Bits(12)
  ) u_core (
    .core_clk_i,
    .tx_clk_i,
    .pwrok_i,
    .reset_ni,
    .rx_clk_i,
    .rx_ctl_i,
    .rx_cad_i,
    .tx_ctl_o,
    .tx_cad_o,
    .rx_cmd_valid_o (rx_cmd_valid),
    .rx_cmd_o       (rx_cmd),
    .rx_cmd_ready_i (rx_cmd_ready),
    .rx_data_valid_o(rx_data_valid),
    .rx_data_o      (rx_data),
    .rx_data_last_o (rx_data_last),
    .rx_data_ready_i(rx_data_ready),
    .tx_cmd_valid_i ({answer_valid, 2'b00}),
    .tx_cmd_i       ({answer, {2 * ht_pkg::CmdW{1'b0}}}),
    .tx_cmd_ready_o (tx_cmd_ready),
    .tx_data_valid_i({answer_data_valid, 2'b00}),
    .tx_data_i      ({answer_data, 128'd0}),
    .tx_data_ready_o(tx_data_ready),
    .user_rst_no    (rst_n),
    .link_up_o,
    .broken_o,
    .crc_error_o,
    .protocol_error_o,
    .overflow_error_o,
    .dropped_o,
    .unit_o,
    .master_o,
    .frequency_o
  );

  logic bar, read, wrote, answered, posted_busy, was_bar_q;
  logic [RamW-1:2] addr;
  logic [3:0] write, ram_write;
  logic [31:0] wdata, ram_rdata, register_rdata;

  // Nothing was asked for, so responses of others are taken and forgotten.
  assign rx_cmd_ready[2]  = 1'b1;
  assign rx_data_ready[2] = 1'b1;

  host_target #(
    .AddrW(RamW)
  ) u_target (
    .clk_i              (core_clk_i),
    .rst_ni             (rst_n),
    .unit_i             (unit_o),
    .posted_valid_i     (rx_cmd_valid[0]),
    .posted_i           (rx_cmd[0+:ht_pkg::CmdW]),
    .posted_ready_o     (rx_cmd_ready[0]),
    .posted_data_valid_i(rx_data_valid[0]),
    .posted_data_i      (rx_data[0+:64]),
    .posted_data_last_i (rx_data_last[0]),
    .posted_data_ready_o(rx_data_ready[0]),
    .posted_busy_o      (posted_busy),
    .asked_valid_i      (rx_cmd_valid[1]),
    .asked_i            (rx_cmd[ht_pkg::CmdW+:ht_pkg::CmdW]),
    .asked_ready_o      (rx_cmd_ready[1]),
    .asked_data_valid_i (rx_data_valid[1]),
    .asked_data_i       (rx_data[64+:64]),
    .asked_data_last_i  (rx_data_last[1]),
    .asked_data_ready_o (rx_data_ready[1]),
    .answer_valid_o     (answer_valid),
    .answer_o           (answer),
    .answer_ready_i     (tx_cmd_ready[2]),
    .answer_data_valid_o(answer_data_valid),
    .answer_data_o      (answer_data),
    .answer_data_ready_i(tx_data_ready[2]),
    .bar_o              (bar),
    .addr_o             (addr),
    .write_o            (write),
    .wdata_o            (wdata),
    .read_o             (read),
    .rdata_i            (was_bar_q ? register_rdata : ram_rdata),
    .wrote_o            (wrote),
    .answered_o         (answered)
  );

  assign ram_write = bar ? 4'd0 : write;

  always_ff @(posedge core_clk_i) if (read) was_bar_q <= bar;

  example_ram #(
    .AddrW(RamW - 2)
  ) u_ram (
    .clk_i  (core_clk_i),
    .addr_i (addr),
    .write_i(ram_write),
    .wdata_i(wdata),
    .read_i (read),
    .rdata_o(ram_rdata)
  );

  // The registers are 4 KB; those above the first 256 bytes are none.
  logic [5:0] register_addr;
  assign register_addr = addr[11:8] == '0 ? addr[7:2] : '1;

  example_registers u_registers (
    .clk_i      (core_clk_i),
    .rst_ni     (rst_n),
    .addr_i     (register_addr),
    .write_i    (bar ? write : 4'd0),
    .wdata_i    (wdata),
    .read_i     (read),
    .rdata_o    (register_rdata),
    .ram_dword_i(ram_write != '0),
    .ram_wrote_i(wrote && !bar),
    .answered_i (answered)
  );

  logic unused;
  assign unused = &{posted_busy, rx_cmd[3*ht_pkg::CmdW-1:2*ht_pkg::CmdW], rx_data[3*64-1:2*64], rx_data_last[2],
                    rx_cmd_valid[2], rx_data_valid[2], tx_cmd_ready[1:0], tx_data_ready[1:0]};
endmodule
