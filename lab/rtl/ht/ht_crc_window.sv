// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The windows of the periodic CRC in one direction: 512 bit-times, whose CRC is sent 64 bit-times into the next
// window and is neither counted nor covered. `slot_o` says that the next word is the CRC, and `crc_o` which it is.

module ht_crc_window #(
  parameter int unsigned Width = 8
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               valid_i,  // a word passes, or a CRC
  input  logic [4*Width+3:0] word_i,
  output logic               slot_o,
  output logic [4*Width-1:0] crc_o     // as it lies in a word: 4 bit-times of all lanes
);
  localparam int unsigned Lanes = Width / 8;

  logic [6:0] count_q;
  logic pending_q;
  logic payload;

  assign slot_o  = pending_q && count_q == ht_pkg::CrcAfter;
  assign payload = valid_i && !slot_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q   <= '0;
      pending_q <= 1'b0;
    end else if (payload) begin
      count_q <= count_q + 7'd1;
      if (count_q == ht_pkg::WindowLast) pending_q <= 1'b1;
    end else if (valid_i) begin
      pending_q <= 1'b0;
    end
  end

  for (genvar lane = 0; lane < Lanes; lane++) begin : gen_lane
    logic [31:0] crc_q, crc_next, done_q, cad;

    for (genvar t = 0; t < 4; t++) begin : gen_time
      assign cad[8*t+:8] = word_i[Width*t+8*lane+:8];
      assign crc_o[Width*t+8*lane+:8] = ~done_q[8*t+:8];
    end

    ht_crc_lane u_crc (
      .crc_i(crc_q),
      .cad_i(cad),
      .ctl_i(word_i[4*Width+:4]),
      .crc_o(crc_next)
    );

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        crc_q  <= '1;
        done_q <= '0;
      end else if (payload) begin
        crc_q <= count_q == ht_pkg::WindowLast ? '1 : crc_next;
        if (count_q == ht_pkg::WindowLast) done_q <= crc_next;
      end
    end
  end
endmodule
