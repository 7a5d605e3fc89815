// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The network's words of 18 bits: 16 of data, and two above them that say what they are. On a cable such a word goes
// each clock (a phit); inside, a packet is a header and the words of its message, with valid and ready.
//
//   header        15: 0   14: the last word has one byte   13:7: source   6:0: destination
//   link word     15: no message   14: send again from here   13:7: sequence   6:0: sequence that is expected
//   frame         header, link word, message, CRC high, CRC low. Without message: header 0.

package net_pkg;
  localparam int unsigned PhitW = 18;
  localparam int unsigned BoardW = 7;
  localparam int unsigned SeqW = 7;

  // Bits 17:16.
  localparam logic [1:0] None = 2'd0;
  localparam logic [1:0] Head = 2'd1;
  localparam logic [1:0] Body = 2'd2;
  localparam logic [1:0] Last = 2'd3;

  // Words of a message: 64 bytes.
  localparam int unsigned WordsMax = 32;

  // The CRC register behind a frame and its CRC.
  localparam logic [31:0] CrcSound = 32'hc704_dd7b;

  // CRC-32 over 16 bits, the highest first.
  function automatic logic [31:0] crc(input logic [31:0] value, input logic [15:0] data);
    crc = value;
    for (int i = 15; i >= 0; i--) begin
      crc = {crc[30:0], 1'b0} ^ ({32{crc[31] ^ data[i]}} & 32'h04c1_1db7);
    end
  endfunction
endpackage
