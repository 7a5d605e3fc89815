// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A switch: link ports and a crossbar between them, without a host. A packet is passed on once it is here as a whole.

module board_switch #(
  parameter int unsigned Ports   = 4,
  parameter int unsigned Words   = 512,  // of packets that wait, for each port
  parameter int unsigned Timeout = 800
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,

  input  logic [Ports-1:0]                cable_clk_i,
  input  logic [Ports*net_pkg::PhitW-1:0] cable_rx_i,
  output logic [Ports*net_pkg::PhitW-1:0] cable_tx_o,

  output logic [Ports-1:0]                cable_error_o,
  output logic [Ports-1:0]                repeated_o,    // for one clock, as are the next
  output logic [Ports-1:0]                damaged_o,
  output logic [Ports-1:0]                no_room_o,
  output logic [Ports-1:0]                unroutable_o
);
  localparam int unsigned PhitW = net_pkg::PhitW;

  logic rst_n;
  logic [Ports-1:0] in_valid, in_ready, out_valid, out_ready, frame, timeout;
  logic [Ports*PhitW-1:0] in_phit, out_phit;

  reset_sync u_reset (
    .clk_i,
    .rst_ni,
    .rst_no(rst_n)
  );

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    logic push, commit, rollback, overflow;
    logic [PhitW-1:0] phit;

    link_port #(
      .Timeout(Timeout)
    ) u_port (
      .clk_i,
      .rst_ni     (rst_n),
      .cable_clk_i(cable_clk_i[p]),
      .cable_i    (cable_rx_i[PhitW*p+:PhitW]),
      .cable_o    (cable_tx_o[PhitW*p+:PhitW]),
      .valid_i    (out_valid[p]),
      .ready_o    (out_ready[p]),
      .phit_i     (out_phit[PhitW*p+:PhitW]),
      .push_o     (push),
      .phit_o     (phit),
      .commit_o   (commit),
      .rollback_o (rollback),
      .overflow_i (overflow),
      .frame_o    (frame[p]),
      .repeat_o   (repeated_o[p]),
      .damaged_o  (damaged_o[p]),
      .no_room_o  (no_room_o[p]),
      .timeout_o  (timeout[p]),
      .error_o    (cable_error_o[p])
    );

    net_fifo #(
      .Width(PhitW),
      .Words(Words)
    ) u_fifo (
      .clk_i,
      .rst_ni    (rst_n),
      .push_i    (push),
      .data_i    (phit),
      .commit_i  (commit),
      .rollback_i(rollback),
      .overflow_o(overflow),
      .valid_o   (in_valid[p]),
      .data_o    (in_phit[PhitW*p+:PhitW]),
      .ready_i   (in_ready[p])
    );
  end

  crossbar #(
    .Ports(Ports)
  ) u_crossbar (
    .clk_i,
    .rst_ni (rst_n),
    .valid_i(in_valid),
    .phit_i (in_phit),
    .ready_o(in_ready),
    .valid_o(out_valid),
    .phit_o (out_phit),
    .ready_i(out_ready),
    .unroutable_o
  );

  logic unused;
  assign unused = &{frame, timeout};
endmodule
