// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Initialisation of the link after reset: CTL for at least 16 bit-times and until the partner's is seen, 512 bit-times
// of zeros, ones for 4 bit-times, and then packets.

module ht_init (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       connected_i,  // something is on the link
  input  logic       ctl_seen_i,
  output logic [1:0] pattern_o,    // 0 ones, 1 CTL and ones, 2 zeros; 0 again is the mark
  output logic       run_o
);
  localparam logic [2:0] Off = 3'd0;
  localparam logic [2:0] Ctl = 3'd1;
  localparam logic [2:0] Zeros = 3'd2;
  localparam logic [2:0] Mark = 3'd3;
  localparam logic [2:0] Run = 3'd4;

  logic [2:0] state_q, state_d;
  logic [6:0] count_q, count_d;

  always_comb begin
    state_d = state_q;
    count_d = count_q + 7'd1;
    unique case (state_q)
      Off: begin
        count_d = '0;
        if (connected_i) state_d = Ctl;
      end
      Ctl: begin
        // Stays at 7: that is 32 bit-times.
        if (count_q == 7'd7) begin
          count_d = ctl_seen_i ? '0 : count_q;
          if (ctl_seen_i) state_d = Zeros;
        end
      end
      Zeros: if (count_q == 7'd127) state_d = Mark;
      Mark: state_d = Run;
      default: count_d = '0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Off;
      count_q <= '0;
    end else begin
      state_q <= state_d;
      count_q <= count_d;
    end
  end

  // One clock early, as the output generator has a register.
  assign run_o = state_q == Mark || state_q == Run;

  always_comb begin
    unique case (state_q)
      Ctl: pattern_o = 2'd1;
      Zeros: pattern_o = 2'd2;
      default: pattern_o = 2'd0;
    endcase
  end
endmodule
