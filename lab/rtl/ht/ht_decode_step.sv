// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One dword through the decoder, without a register: commands are put together, data finds its packet. A control
// packet without data may stand between dwords of data.

module ht_decode_step #(
  parameter int unsigned Bar0Bits = 20,  // log2 of the bytes behind base address register 0
  parameter int unsigned Bar1Bits = 12
) (
  input  logic                        valid_i,
  input  logic                        ctl_i,
  input  logic [31:0]                 dword_i,
  input  logic [ht_pkg::DecoderW-1:0] state_i,
  output logic [ht_pkg::DecoderW-1:0] state_o,
  input  logic                        memory_i,  // base addresses are in use
  input  logic [63:Bar0Bits]          bar0_i,
  input  logic [63:Bar1Bits]          bar1_i,

  output logic                        cmd_valid_o,
  output logic [1:0]                  cmd_channel_o,
  output logic [ht_pkg::RxCmdW-1:0]   cmd_o,
  output logic                        data_valid_o,
  output logic [1:0]                  data_channel_o,
  output logic                        data_high_o,   // upper half of a word of 64 bits
  output logic                        data_last_o,
  output logic                        nop_o,
  output logic                        sync_o,
  output logic                        error_o        // this dword cannot stand here
);
  logic [1:0] part, part_d;
  logic extended, extended_d;
  logic [23:0] extension, extension_d;
  logic [31:0] first, first_d;
  logic [4:0] left, left_d;
  logic [1:0] channel, channel_d;
  logic high, high_d;

  assign {part, extended, extension, first, left, channel, high} = state_i;
  assign state_o = {part_d, extended_d, extension_d, first_d, left_d, channel_d, high_d};

  // What the first dword of a packet says.
  logic [5:0] code;
  logic is_response, has_address, is_short;

  assign code        = dword_i[5:0];
  assign has_address = ht_pkg::has_address(code);
  assign is_response = code == ht_pkg::CmdReadResponse || code == ht_pkg::CmdTargetDone;
  assign is_short    = is_response || code == ht_pkg::CmdFlush || code == ht_pkg::CmdFence;

  // The command that this dword completes, if it does.
  logic complete;
  logic [31:0] head, second;
  logic [5:0] head_code;
  logic head_posted, head_data, to_config, in_bar0, in_bar1, needs_target;
  logic [63:0] address;
  logic [1:0] taker;

  assign head         = part == ht_pkg::PartSecond ? first : dword_i;
  assign second       = part == ht_pkg::PartSecond ? dword_i : 32'd0;
  assign head_code    = head[5:0];
  assign head_posted  = head_code[5:3] == ht_pkg::CmdWritePosted || head_code == ht_pkg::CmdBroadcast ||
                        head_code == ht_pkg::CmdFence;
  assign head_data    = ht_pkg::has_data(head_code);
  assign address      = {extension & {24{extended}}, second, head[31:26], 2'b00};
  assign needs_target = part == ht_pkg::PartSecond && head_code != ht_pkg::CmdBroadcast;
  // FD_FE00_0000 to FD_FFFF_FFFF.
  assign to_config    = !extended && second[31:17] == 15'h7eff &&
                        (head_code[5:3] == ht_pkg::CmdWriteNonPosted || head_code[5:4] == ht_pkg::CmdRead);
  assign in_bar0      = memory_i && address[63:Bar0Bits] == bar0_i;
  assign in_bar1      = memory_i && address[63:Bar1Bits] == bar1_i;

  // Both base addresses are multiples of a page, at least.
  localparam int unsigned Low = Bar0Bits < Bar1Bits ? Bar0Bits : Bar1Bits;
  logic unused_address;
  assign unused_address = &address[Low-1:0];

  always_comb begin
    taker = ht_pkg::ForUser;
    if (needs_target && to_config) taker = ht_pkg::ForConfig;
    else if (needs_target && !in_bar0 && !in_bar1) taker = ht_pkg::ForNobody;
  end

  assign cmd_o = {taker, needs_target && in_bar1, extended && part == ht_pkg::PartSecond,
                  extension & {24{extended && part == ht_pkg::PartSecond}}, second, head};
  assign cmd_valid_o = complete && !error_o;

  always_comb begin
    cmd_channel_o = 2'(ht_pkg::NonPosted);
    if (head_posted) cmd_channel_o = 2'(ht_pkg::Posted);
    else if (part == ht_pkg::PartFirst && is_response) cmd_channel_o = 2'(ht_pkg::Response);
  end

  assign data_channel_o = channel;
  assign data_high_o    = high;
  assign data_last_o    = left == 5'd1;

  always_comb begin
    part_d       = part;
    extended_d   = extended;
    extension_d  = extension;
    first_d      = first;
    left_d       = left;
    channel_d    = channel;
    high_d       = high;
    complete     = 1'b0;
    data_valid_o = 1'b0;
    nop_o        = 1'b0;
    sync_o       = 1'b0;
    error_o      = 1'b0;

    if (valid_i && !ctl_i) begin
      if (left == 5'd0 || part != ht_pkg::PartFirst) begin
        error_o = 1'b1;
      end else begin
        data_valid_o = 1'b1;
        left_d       = left - 5'd1;
        high_d       = !high;
      end
    end else if (valid_i) begin
      unique case (part)
        ht_pkg::PartFirst: begin
          extended_d = 1'b0;
          if (code == ht_pkg::CmdNop) nop_o = 1'b1;
          else if (code == ht_pkg::CmdSync) sync_o = 1'b1;
          else if (is_short) complete = 1'b1;
          else if (has_address) part_d = ht_pkg::PartSecond;
          else if (code == ht_pkg::CmdAddressExtension) part_d = ht_pkg::PartAfterExtension;
          else if (code == ht_pkg::CmdExtendedFlow) part_d = dword_i[6] ? ht_pkg::PartIgnored : ht_pkg::PartFirst;
          else error_o = 1'b1;
          first_d = dword_i;
          if (code == ht_pkg::CmdAddressExtension) begin
            extended_d  = 1'b1;
            extension_d = dword_i[31:8];
          end
        end
        ht_pkg::PartAfterExtension: begin
          first_d = dword_i;
          part_d  = ht_pkg::PartSecond;
          error_o = !has_address;
        end
        ht_pkg::PartSecond: begin
          complete = 1'b1;
          part_d   = ht_pkg::PartFirst;
        end
        default: part_d = ht_pkg::PartFirst;
      endcase
      if (complete && head_data) begin
        // Data cannot stand in data.
        if (left != 5'd0) error_o = 1'b1;
        left_d    = {1'b0, head[25:22]} + 5'd1;
        channel_d = cmd_channel_o;
        high_d    = 1'b0;
      end
    end
  end
endmodule
