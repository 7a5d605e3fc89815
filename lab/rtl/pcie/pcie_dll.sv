// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// PCI Express data-link layer: TLPs of a transaction layer on one side, symbols of lanes on the other.
//
// Below it is a physical layer that trains the link, scrambles, codes, aligns the lanes, and sends and takes
// out ordered sets. It holds `rst_ni` low until the link is up for the first time, and `recovery_i` high
// while the link retrains. See docs/rtl-pcie.md.

module pcie_dll #(
  // 1, 2, 4 or 8; one symbol for each lane in a cycle.
  parameter int unsigned     Lanes         = 4,
  // Framing of generation 3 can be chosen while it runs.
  parameter bit              Gen3          = 1'b1,
  // Credits that this end gives, see pcie_credit_rx, and beats of the buffer behind them.
  parameter logic [3*8-1:0]  RxHeader      = {8'd8, 8'd8, 8'd16},
  parameter logic [3*12-1:0] RxData        = {12'd32, 12'd8, 12'd128},
  parameter int unsigned     RxWords       = 1024,
  // What may wait for an Ack.
  parameter int unsigned     ReplayWords   = 1024,
  parameter int unsigned     ReplayTlps    = 32,
  // Cycles.
  parameter int unsigned     AckLatency    = 64,
  parameter int unsigned     ReplayTimeout = 1024,
  parameter int unsigned     FcLatency     = 64,
  parameter int unsigned     FcRefresh     = 4096,
  localparam int unsigned    Dwords        = (Lanes > 4) ? 2 : 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Framing of generation 3. Changes only while `recovery_i` is high.
  input  logic                   gen3_i,
  input  logic                   recovery_i,

  // TLPs to send: posted, non-posted, completions. The first byte of a TLP is the lowest of the first beat.
  input  logic [2:0]             tx_valid_i,
  output logic [2:0]             tx_ready_o,
  input  logic [3*32*Dwords-1:0] tx_data_i,
  // Dwords of the beat that belong to the TLP: all, except in the last beat.
  input  logic [3*Dwords-1:0]    tx_keep_i,
  input  logic [2:0]             tx_last_i,

  // TLPs that have arrived, once, in order.
  output logic                   rx_valid_o,
  input  logic                   rx_ready_i,
  output logic [32*Dwords-1:0]   rx_data_o,
  output logic [Dwords-1:0]      rx_keep_o,
  output logic                   rx_last_o,

  // Symbols to send; there always are. `symbol_ready_i` is low while something else is sent. An ordered set may
  // go before those with `symbol_between_o`: before them no frame is open.
  input  logic                   symbol_ready_i,
  output logic [8*Lanes-1:0]     symbol_data_o,
  output logic [Lanes-1:0]       symbol_k_o,
  output logic                   symbol_between_o,
  // Symbols received, without ordered sets.
  input  logic                   symbol_valid_i,
  input  logic [8*Lanes-1:0]     symbol_data_i,
  input  logic [Lanes-1:0]       symbol_k_i,

  // DL_Active: flow control is initialised.
  output logic                   active_o,
  // The physical layer has to retrain: replays do not help, or a token of generation 3 was wrong.
  output logic                   retrain_o,
  // What went wrong, a pulse for each: a replay timed out; the other end acknowledged what was not sent,
  // sent more than its credits; a bad TLP, a bad DLLP, a bad frame came.
  output logic                   err_timeout_o,
  output logic                   err_ack_o,
  output logic                   err_overflow_o,
  output logic                   err_tlp_o,
  output logic                   err_dllp_o,
  output logic                   err_frame_o
);

  logic gen3;
  assign gen3 = gen3_i & Gen3;

  // Received symbols, to dwords of TLPs and DLLPs.
  logic                 quad_valid, between;
  logic [32*Dwords-1:0] quad_data;
  logic [4*Dwords-1:0]  quad_k;
  logic [Dwords-1:0]    dw_begin, dw_valid, dw_end, dw_edb, dw_broken;
  logic [12*Dwords-1:0] dw_seq;
  logic [32*Dwords-1:0] dw;
  logic                 dllp_valid, error3;
  logic [47:0]          dllp;

  pcie_lane_rx #(
    .Lanes (Lanes)
  ) u_lane_rx (
    .clk_i,
    .rst_ni,
    .gen3_i       (gen3),
    .restart_i    (recovery_i),
    .symbol_valid_i,
    .symbol_data_i,
    .symbol_k_i,
    .quad_valid_o (quad_valid),
    .quad_data_o  (quad_data),
    .quad_k_o     (quad_k),
    .between_i    (between)
  );

  pcie_unframe #(
    .Dwords (Dwords),
    .Gen3   (Gen3)
  ) u_unframe (
    .clk_i,
    .rst_ni,
    .gen3_i        (gen3),
    .restart_i     (recovery_i),
    .quad_valid_i  (quad_valid),
    .quad_data_i   (quad_data),
    .quad_k_i      (quad_k),
    .begin_o       (dw_begin),
    .seq_o         (dw_seq),
    .dword_valid_o (dw_valid),
    .dword_o       (dw),
    .end_o         (dw_end),
    .edb_o         (dw_edb),
    .broken_o      (dw_broken),
    .dllp_valid_o  (dllp_valid),
    .dllp_o        (dllp),
    .error_o       (err_frame_o),
    .stuck_o       (error3),
    .between_o     (between)
  );

  // Received TLPs.
  logic accepted, nak, ack, ack_urgent, nak_taken, ack_taken, free_valid;
  logic [11:0] ack_seq;
  logic [1:0]  free_class;
  logic [8:0]  free_data;

  pcie_rx_path #(
    .Dwords     (Dwords),
    .Words      (RxWords),
    .AckLatency (AckLatency)
  ) u_rx_path (
    .clk_i,
    .rst_ni,
    .restart_i     (recovery_i),
    .gen3_i        (gen3),
    .begin_i       (dw_begin),
    .seq_i         (dw_seq),
    .dword_valid_i (dw_valid),
    .dword_i       (dw),
    .end_i         (dw_end),
    .edb_i         (dw_edb),
    .broken_i      (dw_broken),
    .rx_valid_o,
    .rx_ready_i,
    .rx_data_o,
    .rx_keep_o,
    .rx_last_o,
    .accepted_o    (accepted),
    .nak_o         (nak),
    .ack_o         (ack),
    .ack_urgent_o  (ack_urgent),
    .ack_seq_o     (ack_seq),
    .nak_taken_i   (nak_taken),
    .ack_taken_i   (ack_taken),
    .free_valid_o  (free_valid),
    .free_class_o  (free_class),
    .free_data_o   (free_data),
    .err_overflow_o,
    .err_tlp_o
  );

  // Received DLLPs.
  logic        got_ack, got_nak, got_fc;
  logic [11:0] got_seq, got_fc_data;
  logic [1:0]  got_fc_phase, got_fc_class;
  logic [7:0]  got_fc_header;

  pcie_dllp_rx u_dllp_rx (
    .valid_i     (dllp_valid),
    .dllp_i      (dllp),
    .bad_o       (err_dllp_o),
    .ack_o       (got_ack),
    .nak_o       (got_nak),
    .seq_o       (got_seq),
    .fc_o        (got_fc),
    .fc_phase_o  (got_fc_phase),
    .fc_class_o  (got_fc_class),
    .fc_header_o (got_fc_header),
    .fc_data_o   (got_fc_data)
  );

  // Flow control: what this end tells, and what it is told.
  logic        fc_first, fc_taken, update, update_urgent;
  logic [1:0]  init_phase, init_class, update_class, fc_class;
  logic [7:0]  fc_header;
  logic [11:0] fc_data;
  assign fc_class = active_o ? update_class : init_class;

  pcie_fc_init u_fc_init (
    .clk_i,
    .rst_ni,
    .fc_i       (got_fc),
    .fc_phase_i (got_fc_phase),
    .fc_class_i (got_fc_class),
    .tlp_i      (accepted),
    .phase_o    (init_phase),
    .class_o    (init_class),
    .taken_i    (fc_taken & !active_o),
    .first_o    (fc_first),
    .active_o
  );

  pcie_credit_rx #(
    .Header  (RxHeader),
    .Data    (RxData),
    .Latency (FcLatency),
    .Refresh (FcRefresh)
  ) u_credit_rx (
    .clk_i,
    .rst_ni,
    .free_valid_i    (free_valid),
    .free_class_i    (free_class),
    .free_data_i     (free_data),
    .read_class_i    (fc_class),
    .read_header_o   (fc_header),
    .read_data_o     (fc_data),
    .update_o        (update),
    .update_urgent_o (update_urgent),
    .update_class_o  (update_class),
    .update_taken_i  (fc_taken & active_o)
  );

  // TLPs to send.
  logic                 new_valid, new_ready, new_last;
  logic [32*Dwords-1:0] new_data;
  logic [Dwords-1:0]    new_keep;

  pcie_tx_select #(
    .Dwords (Dwords)
  ) u_tx_select (
    .clk_i,
    .rst_ni,
    .active_i    (active_o),
    .valid_i     (tx_valid_i),
    .ready_o     (tx_ready_o),
    .data_i      (tx_data_i),
    .keep_i      (tx_keep_i),
    .last_i      (tx_last_i),
    .fc_valid_i  (got_fc & ((got_fc_phase == pcie_pkg::FcUpdate) ? !fc_first : fc_first)),
    .fc_init_i   (fc_first),
    .fc_class_i  (got_fc_class),
    .fc_header_i (got_fc_header),
    .fc_data_i   (got_fc_data),
    .valid_o     (new_valid),
    .ready_i     (new_ready),
    .data_o      (new_data),
    .keep_o      (new_keep),
    .last_o      (new_last)
  );

  logic                 tlp_valid, tlp_ready, tlp_last, waiting, progress, replay, replays_up;
  logic [32*Dwords-1:0] tlp_data;
  logic [Dwords-1:0]    tlp_keep;
  logic [11:0]          tlp_seq;

  pcie_replay_buffer #(
    .Width (33 * Dwords),
    .Words (ReplayWords),
    .Tlps  (ReplayTlps)
  ) u_replay_buffer (
    .clk_i,
    .rst_ni,
    .wvalid_i    (new_valid),
    .wready_o    (new_ready),
    .wdata_i     ({new_keep, new_data}),
    .wlast_i     (new_last),
    .rvalid_o    (tlp_valid),
    .rready_i    (tlp_ready),
    .rdata_o     ({tlp_keep, tlp_data}),
    .rlast_o     (tlp_last),
    .rseq_o      (tlp_seq),
    .ack_valid_i (got_ack | got_nak),
    .ack_seq_i   (got_seq),
    .replay_i    (replay),
    .abort_i     (recovery_i),
    .progress_o  (progress),
    .bad_ack_o   (err_ack_o),
    .waiting_o   (waiting)
  );

  pcie_replay_timer #(
    .Timeout (ReplayTimeout)
  ) u_replay_timer (
    .clk_i,
    .rst_ni,
    .waiting_i  (waiting),
    .progress_i (progress),
    .nak_i      (got_nak & !err_ack_o),
    .hold_i     (recovery_i),
    .replay_o   (replay),
    .timeout_o  (err_timeout_o),
    .retrain_o  (replays_up)
  );

  assign retrain_o = replays_up | error3;

  // Frames to send.
  logic                 dllp_out_valid, dllp_out_ready, dllp_out_urgent, quad_ready, quad_between;
  logic [31:0]          dllp_out;
  logic [32*Dwords-1:0] quad_out;
  logic [4*Dwords-1:0]  quad_out_k;

  pcie_dllp_tx u_dllp_tx (
    .nak_i        (nak),
    .ack_i        (ack),
    .ack_urgent_i (ack_urgent),
    .seq_i        (ack_seq),
    .nak_taken_o  (nak_taken),
    .ack_taken_o  (ack_taken),
    .fc_i         (update | !active_o),
    .fc_urgent_i  (update_urgent),
    .fc_phase_i   (active_o ? pcie_pkg::FcUpdate : init_phase),
    .fc_class_i   (fc_class),
    .fc_header_i  (fc_header),
    .fc_data_i    (fc_data),
    .fc_taken_o   (fc_taken),
    .valid_o      (dllp_out_valid),
    .ready_i      (dllp_out_ready),
    .urgent_o     (dllp_out_urgent),
    .data_o       (dllp_out)
  );

  pcie_framer #(
    .Dwords (Dwords)
  ) u_framer (
    .clk_i,
    .rst_ni,
    .gen3_i        (gen3),
    .abort_i       (recovery_i),
    .tlp_valid_i   (tlp_valid),
    .tlp_ready_o   (tlp_ready),
    .tlp_data_i    (tlp_data),
    .tlp_keep_i    (tlp_keep),
    .tlp_last_i    (tlp_last),
    .tlp_seq_i     (tlp_seq),
    .dllp_valid_i  (dllp_out_valid),
    .dllp_ready_o  (dllp_out_ready),
    .dllp_urgent_i (dllp_out_urgent),
    .dllp_data_i   (dllp_out),
    .quad_ready_i  (quad_ready & !recovery_i),
    .quad_data_o   (quad_out),
    .quad_k_o      (quad_out_k),
    .quad_between_o(quad_between)
  );

  pcie_lane_tx #(
    .Lanes (Lanes)
  ) u_lane_tx (
    .clk_i,
    .rst_ni,
    .abort_i      (recovery_i),
    .quad_ready_o (quad_ready),
    .quad_data_i  (quad_out),
    .quad_k_i     (quad_out_k),
    .quad_between_i(quad_between),
    .symbol_ready_i,
    .symbol_data_o,
    .symbol_k_o,
    .symbol_between_o
  );

endmodule
