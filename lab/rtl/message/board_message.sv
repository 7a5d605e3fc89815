// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The message-passing design on the HT-Core. A posted write into the window behind base address 0 is a message to
// another board; a message from another board is written into a ring in the memory of the host. Registers are behind base
// address 1. The user's clock is the core's: half the frequency of the link.
//
//   HT-Core -> requester -> network port -> link port -> cable
//   HT-Core <- completer <- network port <- link port <- cable

module board_message #(
  parameter int unsigned Width    = 8,
  parameter int unsigned Messages = 8,    // that wait for the host
  parameter int unsigned Timeout  = 800   // of the link port, in clocks
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

  // The cable: cable_clk_i comes with cable_rx_i, core_clk_i goes with cable_tx_o.
  input  logic                      cable_clk_i,
  input  logic [net_pkg::PhitW-1:0] cable_rx_i,
  output logic [net_pkg::PhitW-1:0] cable_tx_o,
  output logic                      cable_error_o,  // nothing is acknowledged any more

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
  localparam int unsigned WindowW = net_pkg::BoardW + 12;

  logic [2:0] rx_cmd_valid, rx_cmd_ready, rx_data_valid, rx_data_last, rx_data_ready, tx_cmd_ready, tx_data_ready;
  logic [3*ht_pkg::CmdW-1:0] rx_cmd;
  logic [3*64-1:0] rx_data;
  logic answer_valid, answer_data_valid, write_valid, write_data_valid, rst_n;
  logic [ht_pkg::CmdW-1:0] posted, answer, write_cmd;
  logic [63:0] answer_data, write_data;

  ht_core #(
    .Width   (Width),
    .Bar0Bits(WindowW),
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
    .tx_cmd_valid_i ({answer_valid, 1'b0, write_valid}),
    .tx_cmd_i       ({answer, {ht_pkg::CmdW{1'b0}}, write_cmd}),
    .tx_cmd_ready_o (tx_cmd_ready),
    .tx_data_valid_i({answer_data_valid, 1'b0, write_data_valid}),
    .tx_data_i      ({answer_data, 64'd0, write_data}),
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

  // Posted writes into the window are for the requester, other posted packets for the registers. Neither takes one while
  // the other reads the data of the one before.
  logic is_send, send_valid, send_ready, send_data_ready, send_busy;
  logic other_valid, other_ready, other_data_ready, other_busy, asked_valid;

  assign posted      = rx_cmd[0+:ht_pkg::CmdW];
  assign is_send     = !posted[ht_pkg::CmdBar] && posted[5:3] == ht_pkg::CmdWritePosted;
  assign send_valid  = rx_cmd_valid[0] && is_send && !other_busy;
  assign other_valid = rx_cmd_valid[0] && !is_send && !send_busy;
  // A read waits for writes before it.
  assign asked_valid = rx_cmd_valid[1] && !rx_cmd_valid[0] && !send_busy;

  assign rx_cmd_ready[0]  = is_send ? send_ready && !other_busy : other_ready && !send_busy;
  assign rx_data_ready[0] = send_data_ready || other_data_ready;
  // Nothing was asked for, so responses of others are taken and forgotten.
  assign rx_cmd_ready[2]  = 1'b1;
  assign rx_data_ready[2] = 1'b1;

  // Registers.
  logic bar, read, wrote, answered, was_window_q;
  logic [31:2] addr, window_addr_q;
  logic [3:0] write;
  logic [31:0] wdata, register_rdata;

  host_target #(
    .AddrW      (32),
    .RefuseWrite(1'b1)
  ) u_target (
    .clk_i              (core_clk_i),
    .rst_ni             (rst_n),
    .unit_i             (unit_o),
    .posted_valid_i     (other_valid),
    .posted_i           (posted),
    .posted_ready_o     (other_ready),
    .posted_data_valid_i(rx_data_valid[0]),
    .posted_data_i      (rx_data[0+:64]),
    .posted_data_last_i (rx_data_last[0]),
    .posted_data_ready_o(other_data_ready),
    .posted_busy_o      (other_busy),
    .asked_valid_i      (asked_valid),
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
    // A read of the window is answered with its address.
    .rdata_i            (was_window_q ? {window_addr_q, 2'b00} : register_rdata),
    .wrote_o            (wrote),
    .answered_o         (answered)
  );

  always_ff @(posedge core_clk_i) begin
    if (read) begin
      was_window_q <= !bar;
      window_addr_q         <= addr;
    end
  end

  logic deliver, sent, stray, refused, frame, repeated, damaged, no_room, timeout;
  logic [net_pkg::BoardW-1:0] own;
  logic [63:7] ring_base;
  logic [15:0] slots;
  logic [31:0] completed;
  logic [5:0] register_addr;

  // The registers are 4 KB; those above the first 256 bytes are none.
  assign register_addr = addr[11:8] == '0 ? addr[7:2] : '1;

  message_registers u_registers (
    .clk_i      (core_clk_i),
    .rst_ni     (rst_n),
    .addr_i     (register_addr),
    .write_i    (bar ? write : 4'd0),
    .wdata_i    (wdata),
    .read_i     (read),
    .rdata_o    (register_rdata),
    .deliver_o  (deliver),
    .own_o      (own),
    .base_o     (ring_base),
    .slots_o    (slots),
    .completed_i(completed),
    .events_i   ({timeout, no_room, damaged, repeated, frame, refused, stray, 1'b0, sent})
  );

  // To the network.
  logic message_valid, message_ready, message_masked, word_valid, word_ready, message_end, out_valid, out_ready;
  logic [net_pkg::BoardW-1:0] destination;
  logic [6:0] message_bytes;
  logic [63:0] word;
  logic [net_pkg::PhitW-1:0] out_phit;

  requester #(
    .WindowW(WindowW)
  ) u_requester (
    .clk_i        (core_clk_i),
    .rst_ni       (rst_n),
    .cmd_valid_i  (send_valid),
    .cmd_i        (posted),
    .cmd_ready_o  (send_ready),
    .data_valid_i (rx_data_valid[0]),
    .data_i       (rx_data[0+:64]),
    .data_last_i  (rx_data_last[0]),
    .data_ready_o (send_data_ready),
    .busy_o       (send_busy),
    .valid_o      (message_valid),
    .destination_o(destination),
    .bytes_o      (message_bytes),
    .masked_o     (message_masked),
    .ready_i      (message_ready),
    .word_valid_o (word_valid),
    .word_o       (word),
    .word_ready_i (word_ready),
    .end_i        (message_end),
    .sent_o       (sent),
    .refused_o    (refused)
  );

  network_out u_network_out (
    .clk_i        (core_clk_i),
    .rst_ni       (rst_n),
    .source_i     (own),
    .valid_i      (message_valid),
    .destination_i(destination),
    .bytes_i      (message_bytes),
    .masked_i     (message_masked),
    .ready_o      (message_ready),
    .word_valid_i (word_valid),
    .word_i       (word),
    .word_ready_o (word_ready),
    .end_o        (message_end),
    .valid_o      (out_valid),
    .phit_o       (out_phit),
    .ready_i      (out_ready)
  );

  // From the network.
  logic push, commit, rollback, overflow, in_valid, in_ready, in_word_valid, in_word_ready;
  logic [net_pkg::PhitW-1:0] in_phit;
  logic [net_pkg::BoardW-1:0] in_source;
  logic [6:0] in_bytes;
  logic [63:0] in_word;

  link_port #(
    .Timeout(Timeout)
  ) u_port (
    .clk_i      (core_clk_i),
    .rst_ni     (rst_n),
    .cable_clk_i,
    .cable_i    (cable_rx_i),
    .cable_o    (cable_tx_o),
    .valid_i    (out_valid),
    .ready_o    (out_ready),
    .phit_i     (out_phit),
    .push_o     (push),
    .phit_o     (in_phit),
    .commit_o   (commit),
    .rollback_o (rollback),
    .overflow_i (overflow),
    .frame_o    (frame),
    .repeat_o   (repeated),
    .damaged_o  (damaged),
    .no_room_o  (no_room),
    .timeout_o  (timeout),
    .error_o    (cable_error_o)
  );

  network_in #(
    .Messages(Messages)
  ) u_network_in (
    .clk_i       (core_clk_i),
    .rst_ni      (rst_n),
    .own_i       (own),
    .push_i      (push),
    .phit_i      (in_phit),
    .commit_i    (commit),
    .rollback_i  (rollback),
    .overflow_o  (overflow),
    .valid_o     (in_valid),
    .source_o    (in_source),
    .bytes_o     (in_bytes),
    .ready_i     (in_ready),
    .word_valid_o(in_word_valid),
    .word_o      (in_word),
    .word_ready_i(in_word_ready),
    .stray_o     (stray)
  );

  completer u_completer (
    .clk_i       (core_clk_i),
    .rst_ni      (rst_n),
    .enable_i    (deliver && master_o),
    .unit_i      (unit_o),
    .base_i      (ring_base),
    .slots_i     (slots),
    .count_o     (completed),
    .valid_i     (in_valid),
    .source_i    (in_source),
    .bytes_i     (in_bytes),
    .ready_o     (in_ready),
    .word_valid_i(in_word_valid),
    .word_i      (in_word),
    .word_ready_o(in_word_ready),
    .cmd_valid_o (write_valid),
    .cmd_o       (write_cmd),
    .cmd_ready_i (tx_cmd_ready[0]),
    .data_valid_o(write_data_valid),
    .data_o      (write_data),
    .data_ready_i(tx_data_ready[0])
  );

  logic unused;
  assign unused = &{wrote, answered, rx_cmd[3*ht_pkg::CmdW-1:2*ht_pkg::CmdW], rx_data[3*64-1:2*64], rx_data_last[2],
                    rx_cmd_valid[2], rx_data_valid[2], tx_cmd_ready[1], tx_data_ready[1]};
endmodule
