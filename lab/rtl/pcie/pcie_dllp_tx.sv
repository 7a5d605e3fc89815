// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Which DLLP goes next: Nak, an Ack that is due, flow control, an Ack that could wait.

module pcie_dllp_tx (
  input  logic        nak_i,
  input  logic        ack_i,
  input  logic        ack_urgent_i,
  input  logic [11:0] seq_i,
  output logic        nak_taken_o,
  output logic        ack_taken_o,

  input  logic        fc_i,
  input  logic        fc_urgent_i,
  input  logic [1:0]  fc_phase_i,
  input  logic [1:0]  fc_class_i,
  input  logic [7:0]  fc_header_i,
  input  logic [11:0] fc_data_i,
  output logic        fc_taken_o,

  output logic        valid_o,
  input  logic        ready_i,
  output logic        urgent_o,
  output logic [31:0] data_o
);

  logic        send_ack, send_fc;
  logic [31:0] word;

  assign send_ack = !nak_i & (ack_urgent_i | (ack_i & !fc_i));
  assign send_fc  = !nak_i & !ack_urgent_i & fc_i;

  assign valid_o  = nak_i | ack_i | fc_i;
  assign urgent_o = nak_i | ack_urgent_i | fc_urgent_i;

  assign word   = send_fc ? {fc_phase_i, fc_class_i, 4'd0, 2'd0, fc_header_i, 2'd0, fc_data_i} :
                            {3'd0, nak_i, 4'd0, 12'd0, seq_i};
  assign data_o = {word[7:0], word[15:8], word[23:16], word[31:24]};

  assign nak_taken_o = nak_i & ready_i;
  assign ack_taken_o = send_ack & ready_i;
  assign fc_taken_o  = send_fc & ready_i;

endmodule
