// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Takes frames apart. A frame is good if its phits came as they have to and its CRC is right; that is known one clock
// after its last phit. Its packet is passed on before: header, message, without link word and CRC.

module link_deframer (
  input  logic                      clk_i,
  input  logic                      rst_ni,

  input  logic                      valid_i,
  input  logic [net_pkg::PhitW-1:0] phit_i,

  output logic                      push_o,
  output logic [net_pkg::PhitW-1:0] phit_o,

  // From the link word on, until the next frame.
  output logic                      bare_o,
  output logic                      reject_o,
  output logic [net_pkg::SeqW-1:0]  seq_o,
  output logic [net_pkg::SeqW-1:0]  expected_o,

  output logic                      good_o,   // for one clock, as is the next
  output logic                      bad_o
);
  // Phits of the longest frame: two before the message, two behind it.
  localparam int unsigned PhitsMax = net_pkg::WordsMax + 4;
  localparam int unsigned CountW = $clog2(PhitsMax + 1);

  logic [CountW-1:0] count_q;  // phits of the frame so far; 0: none is open
  logic is_head, is_last, in_frame, end_q, cut_q, fits_q;
  logic [15:0] link_q, before_q, before2_q;
  logic [31:0] crc_q;

  assign is_head  = phit_i[17:16] == net_pkg::Head;
  assign is_last  = phit_i[17:16] == net_pkg::Last;
  assign in_frame = count_q != '0;

  // Two phits late, because nobody knows yet which ones are the CRC. The link word, the second one, is left out.
  assign push_o = valid_i && in_frame && !is_head && (count_q == CountW'(2) || count_q >= CountW'(4));
  assign phit_o = {count_q == CountW'(2) ? net_pkg::Head : is_last ? net_pkg::Last : net_pkg::Body, before2_q};

  assign {bare_o, reject_o, seq_o, expected_o} = link_q;

  assign good_o = end_q && fits_q && crc_q == net_pkg::CrcSound;
  assign bad_o  = cut_q || (end_q && !good_o);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      end_q   <= 1'b0;
      cut_q   <= 1'b0;
      fits_q  <= 1'b0;
    end else begin
      end_q <= valid_i && is_last;
      // A frame without end. One without beginning, or too long, is told with its last phit.
      cut_q <= valid_i && is_head && in_frame;
      // Four phits without a message, five or more with one.
      fits_q <= in_frame && count_q != CountW'(PhitsMax) && (bare_o ? count_q == CountW'(3) : count_q >= CountW'(4));
      if (valid_i) begin
        if (is_head) count_q <= CountW'(1);
        else if (is_last || count_q == CountW'(PhitsMax)) count_q <= '0;
        else if (in_frame) count_q <= count_q + 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      before_q  <= phit_i[15:0];
      before2_q <= before_q;
      crc_q     <= net_pkg::crc(is_head ? '1 : crc_q, phit_i[15:0]);
      if (count_q == CountW'(1) && !is_head) link_q <= phit_i[15:0];
    end
  end
endmodule
