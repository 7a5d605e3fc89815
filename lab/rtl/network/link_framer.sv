// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Sends frames: the packets of the ring, each with the link word behind its header and the CRC at its end. Where a word
// is late, the cable has a phit of nothing in its place; one follows each frame, so that a receiver whose clock is slower
// does not overflow. An acknowledgement without a packet to ride on is a frame without message.

module link_framer (
  input  logic                      clk_i,
  input  logic                      rst_ni,

  input  logic                      valid_i,
  input  logic [net_pkg::PhitW-1:0] phit_i,
  output logic                      ready_o,

  output logic                      between_o,
  output logic                      begin_o,
  output logic                      end_o,
  input  logic                      allow_i,
  input  logic [net_pkg::SeqW-1:0]  seq_i,

  // What the other end is told.
  input  logic                      owed_i,
  input  logic                      reject_i,
  input  logic [net_pkg::SeqW-1:0]  expected_i,
  output logic                      told_o,

  output logic                      frame_o,  // one begins
  output logic [net_pkg::PhitW-1:0] cable_o
);
  localparam logic [2:0] Between = 3'd0;
  localparam logic [2:0] Link = 3'd1;
  localparam logic [2:0] Message = 3'd2;
  localparam logic [2:0] CrcHigh = 3'd3;
  localparam logic [2:0] CrcLow = 3'd4;
  localparam logic [2:0] Gap = 3'd5;

  logic [2:0] state_q, state_d;
  logic bare_q, bare;
  logic [31:0] crc_q;
  logic [net_pkg::PhitW-1:0] phit;

  assign between_o = state_q == Between;
  assign begin_o   = between_o && allow_i && valid_i;
  assign bare      = between_o && !begin_o && owed_i;
  assign ready_o   = begin_o || state_q == Message;
  assign told_o    = state_q == Link;
  assign end_o     = state_q == CrcLow && !bare_q;
  assign frame_o   = begin_o || bare;

  always_comb begin
    state_d = state_q;
    phit    = '0;
    unique case (state_q)
      Between: begin
        if (begin_o) phit = phit_i;
        else if (bare) phit = {net_pkg::Head, 16'd0};
        if (frame_o) state_d = Link;
      end
      Link: begin
        phit    = {net_pkg::Body, bare_q, reject_i, seq_i, expected_i};
        state_d = bare_q ? CrcHigh : Message;
      end
      Message: begin
        if (valid_i) phit = {net_pkg::Body, phit_i[15:0]};
        if (valid_i && phit_i[17:16] == net_pkg::Last) state_d = CrcHigh;
      end
      CrcHigh: begin
        phit    = {net_pkg::Body, ~crc_q[31:16]};
        state_d = CrcLow;
      end
      CrcLow: begin
        phit    = {net_pkg::Last, ~crc_q[15:0]};
        state_d = Gap;
      end
      Gap: state_d = Between;
      default: state_d = Between;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Between;
      bare_q  <= 1'b0;
      cable_o <= '0;
    end else begin
      state_q <= state_d;
      if (between_o) bare_q <= bare;
      cable_o <= phit;
    end
  end

  // Behind the message the register stays: CRC high and low are sent from it.
  always_ff @(posedge clk_i) begin
    if (frame_o) crc_q <= net_pkg::crc('1, phit[15:0]);
    else if (phit[17:16] != net_pkg::None && (state_q == Link || state_q == Message)) crc_q <= net_pkg::crc(crc_q, phit[15:0]);
  end
endmodule
