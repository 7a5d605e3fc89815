// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Deserialiser 1:4, in the clock of the link. It finds where words begin, and gives one word of 4 bit-times in two
// clocks: CTL of each bit-time above CAD of each, the first in the low bits.
//
// After reset the partner sets CTL, takes CTL and CAD to 0, and then CAD to ones for 4 bit-times: the first packet
// follows. The first bit-time of a word may be at a rising or at a falling edge.

module ht_deserialiser #(
  parameter int unsigned Width = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   ctl_i,
  input  logic [Width-1:0]       cad_i,
  output logic                   valid_o,
  output logic [4*Width+3:0]     word_o,
  output logic                   ctl_seen_o,  // the partner has begun to initialise
  output logic                   running_o    // words are found
);
  localparam logic [2:0] WaitCtl = 3'd0;
  localparam logic [2:0] WaitZero = 3'd1;
  localparam logic [2:0] WaitMark = 3'd2;
  localparam logic [2:0] MarkLate = 3'd3;
  localparam logic [2:0] Mark = 3'd4;
  localparam logic [2:0] Run = 3'd5;

  logic [Width:0] rise, fall, rise_q, fall_q, fall_qq;
  logic [2:0] state_q, state_d;
  logic late_q, late_d, phase_q;

  ht_ddr_in #(
    .Width(Width + 1)
  ) u_pins (
    .clk_i,
    .pins_i({ctl_i, cad_i}),
    .rise_o(rise),
    .fall_o(fall)
  );

  always_comb begin
    state_d = state_q;
    late_d  = late_q;
    unique case (state_q)
      WaitCtl: if (rise[Width] && fall[Width]) state_d = WaitZero;
      WaitZero: begin
        if (!rise[Width] && !fall[Width] && rise[7:0] == 8'h00 && fall[7:0] == 8'h00) state_d = WaitMark;
      end
      WaitMark: begin
        if (!rise[Width] && rise[7:0] == 8'hff) begin
          state_d = Mark;
          late_d  = 1'b0;
        end else if (!fall[Width] && fall[7:0] == 8'hff) begin
          state_d = MarkLate;
          late_d  = 1'b1;
        end
      end
      MarkLate: state_d = Mark;
      Mark: state_d = Run;
      default: state_d = Run;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= WaitCtl;
      late_q     <= 1'b0;
      phase_q    <= 1'b0;
      ctl_seen_o <= 1'b0;
      running_o  <= 1'b0;
    end else begin
      state_q    <= state_d;
      late_q     <= late_d;
      phase_q    <= state_q == Run && !phase_q;
      ctl_seen_o <= state_q != WaitCtl;
      running_o  <= state_q == Run;
    end
  end

  always_ff @(posedge clk_i) begin
    rise_q  <= rise;
    fall_q  <= fall;
    fall_qq <= fall_q;
  end

  logic [Width:0] time0, time1, time2, time3;
  assign time0   = late_q ? fall_qq : rise_q;
  assign time1   = late_q ? rise_q : fall_q;
  assign time2   = late_q ? fall_q : rise;
  assign time3   = late_q ? rise : fall;
  assign valid_o = phase_q;
  assign word_o  = {time3[Width], time2[Width], time1[Width], time0[Width],
                    time3[Width-1:0], time2[Width-1:0], time1[Width-1:0], time0[Width-1:0]};
endmodule
