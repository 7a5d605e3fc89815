// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Checks the CRC of received DLLPs, and says what they mean.

module pcie_dllp_rx (
  input  logic        valid_i,
  input  logic [47:0] dllp_i,

  output logic        bad_o,
  output logic        ack_o,
  output logic        nak_o,
  output logic [11:0] seq_o,
  // Flow control of virtual channel 0; phases and classes as in pcie_pkg.
  output logic        fc_o,
  output logic [1:0]  fc_phase_o,
  output logic [1:0]  fc_class_o,
  output logic [7:0]  fc_header_o,
  output logic [11:0] fc_data_o
);

  logic        sound;
  // As the specification numbers the bits: the first byte is the highest.
  logic [31:0] word;
  assign word  = {dllp_i[7:0], dllp_i[15:8], dllp_i[23:16], dllp_i[31:24]};
  assign sound = valid_i & (pcie_pkg::dllp_crc(dllp_i[31:0]) == dllp_i[47:32]);

  assign bad_o = valid_i & !sound;
  assign ack_o = sound & (word[31:24] == 8'h00);
  assign nak_o = sound & (word[31:24] == 8'h10);
  assign seq_o = word[11:0];

  assign fc_o        = sound & (word[31:30] != 2'b00) & (word[29:28] != 2'b11) & (word[27:24] == 4'b0000);
  assign fc_phase_o  = word[31:30];
  assign fc_class_o  = word[29:28];
  assign fc_header_o = word[21:14];
  assign fc_data_o   = word[11:0];

  logic unused_reserved;
  assign unused_reserved = ^{word[23:22], word[13:12]};

endmodule
