// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// From dwords of received frames to TLPs for the transaction layer: LCRC, sequence number, buffer.

module pcie_rx_path #(
  parameter int unsigned Dwords     = 1,
  parameter int unsigned Words      = 1024,
  parameter int unsigned AckLatency = 64
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 restart_i,
  input  logic                 gen3_i,

  // See pcie_deframer.
  input  logic [Dwords-1:0]    begin_i,
  input  logic [12*Dwords-1:0] seq_i,
  input  logic [Dwords-1:0]    dword_valid_i,
  input  logic [32*Dwords-1:0] dword_i,
  input  logic [Dwords-1:0]    end_i,
  input  logic [Dwords-1:0]    edb_i,
  input  logic [Dwords-1:0]    broken_i,

  output logic                 rx_valid_o,
  input  logic                 rx_ready_i,
  output logic [32*Dwords-1:0] rx_data_o,
  output logic [Dwords-1:0]    rx_keep_o,
  output logic                 rx_last_o,
  output logic                 accepted_o,

  // See pcie_ack.
  output logic                 nak_o,
  output logic                 ack_o,
  output logic                 ack_urgent_o,
  output logic [11:0]          ack_seq_o,
  input  logic                 nak_taken_i,
  input  logic                 ack_taken_i,

  // A TLP has left.
  output logic                 free_valid_o,
  output logic [1:0]           free_class_o,
  output logic [8:0]           free_data_o,

  output logic                 err_overflow_o,
  output logic                 err_tlp_o
);

  logic [Dwords-1:0]    valid;
  logic [32*Dwords-1:0] data;
  logic                 sound, nullified, bad, ended;
  logic [11:0]          seq;

  pcie_rx_check #(
    .Dwords (Dwords)
  ) u_check (
    .clk_i,
    .rst_ni,
    .restart_i,
    .gen3_i,
    .begin_i,
    .seq_i,
    .dword_valid_i,
    .dword_i,
    .end_i,
    .edb_i,
    .broken_i,
    .dword_valid_o (valid),
    .dword_o       (data),
    .sound_o       (sound),
    .nullified_o   (nullified),
    .bad_o         (bad),
    .seq_o         (seq)
  );

  // No room at any dword: the TLP is lost.
  logic room, lost_q, fits;
  assign fits      = !lost_q & room;
  assign ended     = sound | nullified | bad;
  assign err_tlp_o = bad;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) lost_q <= 1'b0;
    else lost_q <= !ended & (lost_q | ((valid != '0) & !room));
  end

  pcie_ack #(
    .Latency (AckLatency)
  ) u_ack (
    .clk_i,
    .rst_ni,
    .sound_i      (sound),
    .bad_i        (bad),
    .seq_i        (seq),
    .room_i       (fits),
    .accept_o     (accepted_o),
    .overflow_o   (err_overflow_o),
    .nak_o,
    .ack_o,
    .ack_urgent_o,
    .seq_o        (ack_seq_o),
    .nak_taken_i,
    .ack_taken_i
  );

  logic                 beat, beat_last, beat_drop;
  logic [32*Dwords-1:0] beat_data;
  logic [Dwords-1:0]    beat_keep;

  pcie_rx_pack #(
    .Dwords (Dwords)
  ) u_pack (
    .clk_i,
    .rst_ni,
    .dword_valid_i (valid),
    .dword_i       (data),
    .accept_i      (accepted_o),
    .drop_i        (ended & !accepted_o),
    .valid_o       (beat),
    .data_o        (beat_data),
    .keep_o        (beat_keep),
    .last_o        (beat_last),
    .drop_o        (beat_drop)
  );

  pcie_rx_buffer #(
    .Dwords (Dwords),
    .Words  (Words)
  ) u_buffer (
    .clk_i,
    .rst_ni,
    .wvalid_i   (beat),
    .wdata_i    (beat_data),
    .wkeep_i    (beat_keep),
    .wlast_i    (beat_last),
    .wdrop_i    (beat_drop),
    .wroom_o    (room),
    .rvalid_o   (rx_valid_o),
    .rready_i   (rx_ready_i),
    .rdata_o    (rx_data_o),
    .rkeep_o    (rx_keep_o),
    .rlast_o    (rx_last_o),
    .free_valid_o,
    .free_class_o,
    .free_data_o
  );

endmodule
