// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Puts TLPs and DLLPs into frames: STP or SDP, sequence number, LCRC or CRC, END; or the tokens of
// generation 3.
//
// Behind its first symbols a TLP is a row of dwords: those of the TLP, then the LCRC. With generation 3 a
// token of four symbols goes before them. With generations 1 and 2 there are three symbols before them and
// one, END, behind them: each quad is made of the rest of a dword and the first byte of the next. `carry` is
// the dword of which something is left, so both framings take the same steps. A frame begins in lane 0; with
// two quads for each beat, PAD fills what is left behind END.

module pcie_framer #(
  parameter int unsigned Dwords = 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 gen3_i,
  // Break off what is being sent.
  input  logic                 abort_i,

  // TLPs, without a break within one.
  input  logic                 tlp_valid_i,
  output logic                 tlp_ready_o,
  input  logic [32*Dwords-1:0] tlp_data_i,
  input  logic [Dwords-1:0]    tlp_keep_i,
  input  logic                 tlp_last_i,
  input  logic [11:0]          tlp_seq_i,

  // DLLPs, without their CRC. One that is urgent goes before the next TLP, others when there is none.
  input  logic                 dllp_valid_i,
  output logic                 dllp_ready_o,
  input  logic                 dllp_urgent_i,
  input  logic [31:0]          dllp_data_i,

  // Quads for the link. There is always something to send.
  input  logic                 quad_ready_i,
  output logic [32*Dwords-1:0] quad_data_o,
  output logic [4*Dwords-1:0]  quad_k_o,
  // They begin a frame, or are idle.
  output logic                 quad_between_o
);

  typedef enum logic [1:0] {
    StBetween,
    StTlp,
    StTail,
    StDllp
  } state_e;

  state_e      state_q, state_d;
  logic [31:0] carry_q, carry_d, crc_q, crc_d, next;
  // What is left behind the data: 2 for LCRC and END, 1 for END.
  logic [1:0]  left_q, left_d;
  logic        first, data_beat, dllp_beat;

  // Both quads of a DLLP.
  logic [63:0] dllp;
  logic [15:0] crc16;
  assign crc16 = pcie_pkg::dllp_crc(dllp_data_i);
  assign dllp  = gen3_i ? {crc16, dllp_data_i, pcie_pkg::SdpToken} :
                          {pcie_pkg::End, crc16, dllp_data_i, pcie_pkg::Sdp};

  assign dllp_beat = (state_q == StBetween) & dllp_valid_i & (dllp_urgent_i | !tlp_valid_i);
  assign first     = (state_q == StBetween) & tlp_valid_i & !dllp_beat;
  assign data_beat = first | (state_q == StTlp);

  assign quad_between_o = (state_q == StBetween);

  assign tlp_ready_o  = data_beat & quad_ready_i;
  assign dllp_ready_o = dllp_beat & quad_ready_i;

  always_comb begin
    quad_data_o = '0;
    quad_k_o    = '0;
    next        = '0;
    carry_d     = carry_q;
    crc_d       = crc_q;
    left_d      = left_q;
    if (first) begin
      carry_d = gen3_i ? pcie_pkg::stp_token(pcie_pkg::tlp_dwords(tlp_data_i[31:0]) + 11'd2, tlp_seq_i) :
                         {tlp_seq_i[7:0], 4'd0, tlp_seq_i[11:8], pcie_pkg::Stp, 8'd0};
      crc_d   = pcie_pkg::lcrc_seq(tlp_seq_i);
    end
    if (data_beat) left_d = tlp_last_i ? 2'd2 : 2'd0;

    for (int unsigned i = 0; i < Dwords; i++) begin
      if ((data_beat & tlp_keep_i[i]) | (left_d != '0)) begin
        if (data_beat & tlp_keep_i[i]) begin
          next  = tlp_data_i[32*i +: 32];
          crc_d = pcie_pkg::lcrc_dword(crc_d, next);
        end else begin
          next          = (left_d == 2'd2) ? ~crc_d : {24'd0, pcie_pkg::End};
          quad_k_o[4*i + 3] = (left_d == 2'd1) & !gen3_i;
          left_d        = left_d - 2'd1;
        end
        quad_data_o[32*i +: 32] = gen3_i ? carry_d : {next[7:0], carry_d[31:8]};
        carry_d = next;
      end else if (i != 0 && !gen3_i && state_q == StTail) begin
        quad_data_o[32*i +: 32] = {4{pcie_pkg::Pad}};
        quad_k_o[4*i +: 4]      = '1;
      end
    end
    if (first & !gen3_i) quad_k_o[0] = 1'b1;

    if (dllp_beat) begin
      quad_data_o = dllp[32*Dwords-1:0];
      quad_k_o[0] = !gen3_i;
      if (Dwords > 1) quad_k_o[4*Dwords-1] = !gen3_i;
      carry_d     = dllp[63:32];
    end else if (state_q == StDllp) begin
      quad_data_o[31:0] = carry_q;
      quad_k_o[3:0]     = {!gen3_i, 3'b000};
    end
  end

  always_comb begin
    if (dllp_beat && Dwords == 1)       state_d = StDllp;
    else if (data_beat & !tlp_last_i)   state_d = StTlp;
    else if (left_d != '0)              state_d = StTail;
    else                                state_d = StBetween;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StBetween;
      carry_q <= '0;
      crc_q   <= '0;
      left_q  <= '0;
    end else if (abort_i) begin
      state_q <= StBetween;
      left_q  <= '0;
    end else if (quad_ready_i) begin
      state_q <= state_d;
      carry_q <= carry_d;
      crc_q   <= crc_d;
      left_q  <= left_d;
    end
  end

endmodule
