// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the modules of the HT-Core agree on: channels, commands, and how commands lie in queues.

package ht_pkg;
  // Virtual channels, as indices.
  localparam int unsigned Posted = 0;
  localparam int unsigned NonPosted = 1;
  localparam int unsigned Response = 2;

  // Commands: bits 5:0 of the first dword. Sized writes and reads have options in their low bits.
  localparam logic [5:0] CmdNop = 6'b000000;
  localparam logic [5:0] CmdFlush = 6'b000010;
  localparam logic [5:0] CmdReadResponse = 6'b110000;
  localparam logic [5:0] CmdTargetDone = 6'b110011;
  localparam logic [5:0] CmdExtendedFlow = 6'b110111;
  localparam logic [5:0] CmdBroadcast = 6'b111010;
  localparam logic [5:0] CmdFence = 6'b111100;
  localparam logic [5:0] CmdAtomic = 6'b111101;
  localparam logic [5:0] CmdAddressExtension = 6'b111110;
  localparam logic [5:0] CmdSync = 6'b111111;
  localparam logic [2:0] CmdWritePosted = 3'b101;     // bits 5:3
  localparam logic [2:0] CmdWriteNonPosted = 3'b001;  // bits 5:3
  localparam logic [1:0] CmdRead = 2'b01;             // bits 5:4

  // Whether data follows the command.
  function automatic logic has_data(input logic [5:0] code);
    has_data = code[5:3] == CmdWritePosted || code[5:3] == CmdWriteNonPosted || code == CmdAtomic ||
               code == CmdReadResponse;
  endfunction

  // Whether it has a second dword, with address bits.
  function automatic logic has_address(input logic [5:0] code);
    has_address = code[5:3] == CmdWritePosted || code[5:3] == CmdWriteNonPosted || code[5:4] == CmdRead ||
                  code == CmdBroadcast || code == CmdAtomic;
  endfunction

  // The response to a request of this first dword: Error1 and RqUID above, then Count, Error0, SrcTag, PassPW, UnitID.
  // Error1 says with Error0 that it is a master abort, without it is none.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic [31:0] response(input logic [31:0] request, input logic [4:0] unit, input logic error1,
                                           input logic error0);
    logic is_read, is_atomic;
    logic [3:0] count;
    is_read   = request[5:4] == CmdRead;
    is_atomic = request[5:0] == CmdAtomic;
    count     = is_atomic ? 4'd1 : is_read && request[2] ? request[25:22] : 4'd0;
    response  = {request[9:8], error1, 3'd0, count, error0, request[20:16], is_read ? request[3] : request[15],
                 2'd0, unit, 2'd0, is_read || is_atomic ? CmdReadResponse : CmdTargetDone};
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // A command in a queue of the user: first and second dword (0 if there is none), address bits 63:40, whether it
  // has them, and on receive which base address register it is for.
  localparam int unsigned CmdW = 96;
  localparam int unsigned CmdExtension = 88;
  localparam int unsigned CmdBar = 89;

  // Who takes a received command: two bits above CmdBar, inside the core only.
  localparam int unsigned RxCmdW = 92;
  localparam int unsigned TxCmdW = 89;
  localparam logic [1:0] ForUser = 2'd0;
  localparam logic [1:0] ForConfig = 2'd1;
  localparam logic [1:0] ForNobody = 2'd2;

  // What the decoder keeps between dwords.
  localparam logic [1:0] PartFirst = 2'd0;   // the first dword of a packet is next
  localparam logic [1:0] PartAfterExtension = 2'd1;
  localparam logic [1:0] PartSecond = 2'd2;
  localparam logic [1:0] PartIgnored = 2'd3;  // second half of an extended flow control packet
  localparam int unsigned DecoderW = 2 + 1 + 24 + 32 + 5 + 2 + 1;

  // Words of 4 bit-times in a window of the periodic CRC, and before the CRC of the window before is sent.
  localparam logic [6:0] WindowLast = 7'd127;
  localparam logic [6:0] CrcAfter = 7'd16;
endpackage
