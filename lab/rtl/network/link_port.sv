// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A link port: packets to and from a cable, with CRC and retransmission. Packets that come in are pushed as they come,
// and then committed or rolled back.

module link_port #(
  parameter int unsigned Timeout = 800
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,

  // The cable. cable_clk_i comes with the phits.
  input  logic                      cable_clk_i,
  input  logic [net_pkg::PhitW-1:0] cable_i,
  output logic [net_pkg::PhitW-1:0] cable_o,

  input  logic                      valid_i,
  output logic                      ready_o,
  input  logic [net_pkg::PhitW-1:0] phit_i,

  output logic                      push_o,
  output logic [net_pkg::PhitW-1:0] phit_o,
  output logic                      commit_o,
  output logic                      rollback_o,
  input  logic                      overflow_i,

  // For one clock each, except the last.
  output logic                      frame_o,
  output logic                      repeat_o,
  output logic                      damaged_o,
  output logic                      no_room_o,
  output logic                      timeout_o,
  output logic                      error_o
);
  logic cable_rst_n, cable_some, in_valid, in_ready;
  logic [net_pkg::PhitW-1:0] in_phit;

  reset_sync u_cable_reset (
    .clk_i (cable_clk_i),
    .rst_ni,
    .rst_no(cable_rst_n)
  );

  assign cable_some = cable_i[17:16] != net_pkg::None;

  // A phit that has no room is lost: the CRC finds it.
  async_fifo #(
    .Width(net_pkg::PhitW),
    .Depth(16)
  ) u_cable (
    .wclk_i  (cable_clk_i),
    .wrst_ni (cable_rst_n),
    .wvalid_i(cable_some),
    .wready_o(in_ready),
    .wdata_i (cable_i),
    .rclk_i  (clk_i),
    .rrst_ni (rst_ni),
    .rvalid_o(in_valid),
    .rready_i(1'b1),
    .rdata_o (in_phit)
  );

  logic push, bare, heard_reject, good, bad, wanted;
  logic [net_pkg::SeqW-1:0] heard_seq, heard_expected, expected, next, keep, jump_to;

  link_deframer u_deframer (
    .clk_i,
    .rst_ni,
    .valid_i   (in_valid),
    .phit_i    (in_phit),
    .push_o    (push),
    .phit_o,
    .bare_o    (bare),
    .reject_o  (heard_reject),
    .seq_o     (heard_seq),
    .expected_o(heard_expected),
    .good_o    (good),
    .bad_o     (bad)
  );

  logic owed, reject, told;

  link_accept #(
    .SeqW(net_pkg::SeqW)
  ) u_accept (
    .clk_i,
    .rst_ni,
    .good_i    (good),
    .bad_i     (bad),
    .bare_i    (bare),
    .seq_i     (heard_seq),
    .wanted_o  (wanted),
    .overflow_i,
    .commit_o,
    .rollback_o,
    .owed_o    (owed),
    .reject_o  (reject),
    .expected_o(expected),
    .told_i    (told),
    .timeout_i (timeout_o),
    .no_room_o
  );

  assign push_o    = push && wanted;
  assign damaged_o = bad;

  logic between, frame_begin, frame_end, allow, jump, out_valid, out_ready;
  logic [net_pkg::PhitW-1:0] out_phit;

  link_window #(
    .SeqW   (net_pkg::SeqW),
    .Timeout(Timeout)
  ) u_window (
    .clk_i,
    .rst_ni,
    .between_i (between),
    .begin_i   (frame_begin),
    .end_i     (frame_end),
    .allow_o   (allow),
    .jump_o    (jump),
    .jump_to_o (jump_to),
    .next_o    (next),
    .keep_o    (keep),
    .heard_i   (good),
    .expected_i(heard_expected),
    .reject_i  (heard_reject),
    .repeat_o,
    .timeout_o,
    .error_o
  );

  link_ring #(
    .SeqW(net_pkg::SeqW)
  ) u_ring (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .phit_i,
    .valid_o  (out_valid),
    .phit_o   (out_phit),
    .ready_i  (out_ready),
    .jump_i   (jump),
    .jump_to_i(jump_to),
    .keep_i   (keep)
  );

  link_framer u_framer (
    .clk_i,
    .rst_ni,
    .valid_i   (out_valid),
    .phit_i    (out_phit),
    .ready_o   (out_ready),
    .between_o (between),
    .begin_o   (frame_begin),
    .end_o     (frame_end),
    .allow_i   (allow),
    .seq_i     (next),
    .owed_i    (owed),
    .reject_i  (reject),
    .expected_i(expected),
    .told_o    (told),
    .frame_o,
    .cable_o
  );

  logic unused;
  assign unused = in_ready;
endmodule
