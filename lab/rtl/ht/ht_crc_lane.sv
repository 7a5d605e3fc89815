// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One word of 4 bit-times through the periodic CRC of a lane of 8 bits: in each bit-time CAD[0] to CAD[7], then CTL.

module ht_crc_lane (
  input  logic [31:0] crc_i,
  input  logic [31:0] cad_i,  // first bit-time in the low byte
  input  logic [3:0]  ctl_i,
  output logic [31:0] crc_o
);
  localparam logic [31:0] Polynomial = 32'h04c1_1db7;

  logic [35:0] bits;
  logic [31:0] crc;

  assign bits = {ctl_i[3], cad_i[31:24], ctl_i[2], cad_i[23:16], ctl_i[1], cad_i[15:8], ctl_i[0], cad_i[7:0]};

  always_comb begin
    crc = crc_i;
    for (int i = 0; i < 36; i++) begin
      crc = {crc[30:0], bits[i]} ^ (crc[31] ? Polynomial : 32'd0);
    end
  end

  assign crc_o = crc;
endmodule
