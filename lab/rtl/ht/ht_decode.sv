// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Decodes what has been received: one step for each dword of a clock. After an error it takes nothing more until the
// next reset, because nobody knows where packets begin.

module ht_decode #(
  parameter int unsigned Steps    = 1,
  parameter int unsigned Bar0Bits = 20,
  parameter int unsigned Bar1Bits = 12
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic                              stop_i,  // the link is broken
  input  logic [Steps-1:0]                  valid_i,
  input  logic [Steps-1:0]                  ctl_i,
  input  logic [32*Steps-1:0]               dword_i,
  input  logic                              memory_i,
  input  logic [63:Bar0Bits]                bar0_i,
  input  logic [63:Bar1Bits]                bar1_i,

  // Of each step, from here to the queues.
  output logic [Steps-1:0]                  cmd_valid_o,
  output logic [2*Steps-1:0]                cmd_channel_o,
  output logic [ht_pkg::RxCmdW*Steps-1:0]   cmd_o,
  output logic [Steps-1:0]                  data_valid_o,
  output logic [2*Steps-1:0]                data_channel_o,
  output logic [Steps-1:0]                  data_high_o,
  output logic [Steps-1:0]                  data_last_o,
  output logic [Steps-1:0]                  nop_o,
  output logic                              sync_o,
  output logic                              error_o
);
  logic [ht_pkg::DecoderW-1:0] state_q;
  logic [ht_pkg::DecoderW*(Steps+1)-1:0] states;
  logic [Steps-1:0] sync, error;
  logic stopped_q;

  assign states[0+:ht_pkg::DecoderW] = state_q;

  for (genvar s = 0; s < Steps; s++) begin : gen_step
    ht_decode_step #(
      .Bar0Bits(Bar0Bits),
      .Bar1Bits(Bar1Bits)
    ) u_step (
      .valid_i       (valid_i[s] && !stop_i && !stopped_q),
      .ctl_i         (ctl_i[s]),
      .dword_i       (dword_i[32*s+:32]),
      .state_i       (states[ht_pkg::DecoderW*s+:ht_pkg::DecoderW]),
      .state_o       (states[ht_pkg::DecoderW*(s+1)+:ht_pkg::DecoderW]),
      .memory_i,
      .bar0_i,
      .bar1_i,
      .cmd_valid_o   (cmd_valid_o[s]),
      .cmd_channel_o (cmd_channel_o[2*s+:2]),
      .cmd_o         (cmd_o[ht_pkg::RxCmdW*s+:ht_pkg::RxCmdW]),
      .data_valid_o  (data_valid_o[s]),
      .data_channel_o(data_channel_o[2*s+:2]),
      .data_high_o   (data_high_o[s]),
      .data_last_o   (data_last_o[s]),
      .nop_o         (nop_o[s]),
      .sync_o        (sync[s]),
      .error_o       (error[s])
    );
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= '0;
      stopped_q <= 1'b0;
    end else begin
      state_q <= states[ht_pkg::DecoderW*Steps+:ht_pkg::DecoderW];
      if (sync_o || error_o) stopped_q <= 1'b1;
    end
  end

  assign sync_o  = |sync;
  assign error_o = |error;
endmodule
