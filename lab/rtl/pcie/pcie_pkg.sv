// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the blocks of the PCI Express data-link layer share: symbols, classes of credits, CRCs, and what
// the first dword of a TLP says.
//
// Everywhere the symbol that goes first on the link is the lowest byte of a word. A quad is four symbols:
// every TLP and DLLP of generations 1 to 3 is a whole number of quads.

package pcie_pkg;

  // K symbols of generations 1 and 2.
  parameter logic [7:0] Stp = 8'hfb;
  parameter logic [7:0] Sdp = 8'h5c;
  parameter logic [7:0] End = 8'hfd;
  parameter logic [7:0] Edb = 8'hfe;
  parameter logic [7:0] Pad = 8'hf7;

  // Tokens of generation 3, as bytes: Base Specification 3.0 and later, section 4.2.2.3.1. STP is computed: see
  // stp_token. EDS looks like one with the length 1.
  parameter logic [15:0] SdpToken = 16'hacf0;
  parameter logic [31:0] EdbToken = 32'hc0c0c0c0;
  parameter logic [31:0] EdsToken = 32'h0090801f;

  // Lengths in a token of STP: token, header of three dwords, LCRC; and the first one that is reserved.
  parameter logic [10:0] LenLeast    = 11'd5;
  parameter logic [10:0] LenReserved = 11'd1152;

  // Classes of credits; also the order of initialisation, and the bits [5:4] of the type of a DLLP.
  parameter logic [1:0] Posted     = 2'd0;
  parameter logic [1:0] NonPosted  = 2'd1;
  parameter logic [1:0] Completion = 2'd2;

  // Bits [7:6] of the type of a flow-control DLLP.
  parameter logic [1:0] FcInit1  = 2'b01;
  parameter logic [1:0] FcUpdate = 2'b10;
  parameter logic [1:0] FcInit2  = 2'b11;

  // The CRC register behind a packet and its own CRC: sound, and with the CRC inverted.
  parameter logic [31:0] LcrcSound     = 32'hdebb20e3;
  parameter logic [31:0] LcrcNullified = 32'h00000000;

  // LCRC over four symbols.
  function automatic logic [31:0] lcrc_dword(input logic [31:0] crc, input logic [31:0] data);
    lcrc_dword = crc;
    for (int unsigned i = 0; i < 32; i++) begin
      lcrc_dword = {1'b0, lcrc_dword[31:1]} ^ ({32{lcrc_dword[0] ^ data[i]}} & 32'hedb88320);
    end
  endfunction

  // LCRC over the sequence number, which goes first: two symbols, the high one with four zeros.
  function automatic logic [31:0] lcrc_seq(input logic [11:0] seq);
    lcrc_seq = '1;
    for (int unsigned i = 0; i < 16; i++) begin
      lcrc_seq = {1'b0, lcrc_seq[31:1]} ^
          ({32{lcrc_seq[0] ^ ((i < 8) ? ((i < 4) & seq[8 + i % 4]) : seq[i % 8])}} & 32'hedb88320);
    end
  endfunction

  // The two symbols of the CRC of a DLLP.
  function automatic logic [15:0] dllp_crc(input logic [31:0] data);
    dllp_crc = '1;
    for (int unsigned i = 0; i < 32; i++) begin
      dllp_crc = {1'b0, dllp_crc[15:1]} ^ ({16{dllp_crc[0] ^ data[i]}} & 16'hd008);
    end
    dllp_crc = ~dllp_crc;
  endfunction

  // STP token of generation 3: 1111, length in dwords with token and LCRC, its CRC and parity, sequence number.
  function automatic logic [31:0] stp_token(input logic [10:0] len, input logic [11:0] seq);
    logic [3:0] crc;
    crc = frame_crc(len);
    stp_token = {seq[7:0], crc, seq[11:8], ^{len, crc}, len[10:4], len[3:0], 4'hf};
  endfunction

  // Remainder of the length, its lowest bit first, by x^4 + x + 1.
  function automatic logic [3:0] frame_crc(input logic [10:0] len);
    frame_crc[0] = ^(len & 11'b100_1101_0111);
    frame_crc[1] = ^(len & 11'b110_1011_1100);
    frame_crc[2] = ^(len & 11'b011_0101_1110);
    frame_crc[3] = ^(len & 11'b001_1010_1111);
  endfunction

  // These take the whole first dword of a TLP, and look at some of its bits.
  // verilator lint_off UNUSEDSIGNAL

  // Dwords of data that a header announces. 0 stands for 1,024.
  function automatic logic [10:0] data_dwords(input logic [31:0] first);
    if (!first[6]) data_dwords = '0;
    else data_dwords = {first[17:16] == '0 & first[31:24] == '0, first[17:16], first[31:24]};
  endfunction

  // Dwords of the whole TLP: header of three or four, data, digest.
  function automatic logic [10:0] tlp_dwords(input logic [31:0] first);
    tlp_dwords = 11'd3 + {10'd0, first[5]} + {10'd0, first[23]} + data_dwords(first);
  endfunction

  // Data credits that a TLP takes: one for every 16 bytes that are begun.
  function automatic logic [8:0] data_credits(input logic [31:0] first);
    logic [10:0] rounded;
    rounded = data_dwords(first) + 11'd3;
    data_credits = rounded[10:2];
  endfunction

  // Class of a received TLP. Memory writes and messages are posted.
  function automatic logic [1:0] tlp_class(input logic [31:0] first);
    if (first[4:1] == 4'b0101) tlp_class = Completion;
    else if (first[4:3] == 2'b10 || (first[6] && first[4:0] == 5'd0)) tlp_class = Posted;
    else tlp_class = NonPosted;
  endfunction

  // verilator lint_on UNUSEDSIGNAL

endpackage
