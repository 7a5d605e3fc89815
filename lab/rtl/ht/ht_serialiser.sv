// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Serialiser: a word of 4 bit-times each core clock, two bit-times each clock of the link. The clock of the link has
// twice the frequency of the core's, and their rising edges meet.

module ht_serialiser #(
  parameter int unsigned Width = 8
) (
  input  logic               core_clk_i,
  input  logic               core_rst_ni,
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [4*Width+3:0] word_i,
  output logic               ctl_o,
  output logic [Width-1:0]   cad_o
);
  logic toggle_q, seen_q;
  logic [Width:0] time0_q, time1_q, time2_q, time3_q;

  always_ff @(posedge core_clk_i or negedge core_rst_ni) begin
    if (!core_rst_ni) toggle_q <= 1'b0;
    else toggle_q <= !toggle_q;
  end

  // In the second half of a core clock both are the same: the edge at its end takes the next word.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) seen_q <= 1'b0;
    else seen_q <= toggle_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {time0_q, time1_q, time2_q, time3_q} <= {4{1'b0, {Width{1'b1}}}};
    end else if (toggle_q == seen_q) begin
      time0_q <= {word_i[4*Width+0], word_i[0*Width+:Width]};
      time1_q <= {word_i[4*Width+1], word_i[1*Width+:Width]};
      time2_q <= {word_i[4*Width+2], word_i[2*Width+:Width]};
      time3_q <= {word_i[4*Width+3], word_i[3*Width+:Width]};
    end else begin
      time0_q <= time2_q;
      time1_q <= time3_q;
    end
  end

  ht_ddr_out #(
    .Width     (Width + 1),
    .ResetValue({1'b0, {Width{1'b1}}})
  ) u_pins (
    .clk_i,
    .rst_ni,
    .rise_i(time0_q),
    .fall_i(time1_q),
    .pins_o({ctl_o, cad_o})
  );
endmodule
