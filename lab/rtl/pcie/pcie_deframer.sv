// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Takes frames of generations 1 and 2 apart: STP or SDP in front, END or EDB behind.
//
// One step for each quad of a beat. What comes out, for each quad: that a TLP begins, with its sequence
// number; a dword of it; that this dword is the last, its LCRC; that the TLP is broken. And the DLLP, of
// which one at most ends in a beat.

module pcie_deframer #(
  parameter int unsigned Dwords = 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // Forget a frame that is open.
  input  logic                 restart_i,

  input  logic                 quad_valid_i,
  input  logic [32*Dwords-1:0] quad_data_i,
  input  logic [4*Dwords-1:0]  quad_k_i,

  output logic [Dwords-1:0]    begin_o,
  output logic [12*Dwords-1:0] seq_o,
  output logic [Dwords-1:0]    dword_valid_o,
  output logic [32*Dwords-1:0] dword_o,
  output logic [Dwords-1:0]    end_o,
  // Together with `end_o`: the sender took the TLP back.
  output logic [Dwords-1:0]    edb_o,
  output logic [Dwords-1:0]    broken_o,

  output logic                 dllp_valid_o,
  output logic [47:0]          dllp_o,
  output logic                 error_o
);

  // Which frame is open, and the symbols before those of this quad.
  logic        in_tlp_q, in_tlp_d, in_dllp_q, in_dllp_d;
  logic [23:0] carry_q, carry_d;

  logic [31:0] quad;
  logic [3:0]  k;
  logic        data_only, ended, stp, sdp;

  always_comb begin
    in_tlp_d      = in_tlp_q;
    in_dllp_d     = in_dllp_q;
    carry_d       = carry_q;
    begin_o       = '0;
    seq_o         = '0;
    dword_valid_o = '0;
    dword_o       = '0;
    end_o         = '0;
    edb_o         = '0;
    broken_o      = '0;
    dllp_valid_o  = 1'b0;
    dllp_o        = '0;
    error_o       = 1'b0;
    quad          = '0;
    k             = '0;
    data_only     = 1'b0;
    ended         = 1'b0;
    stp           = 1'b0;
    sdp           = 1'b0;

    for (int unsigned i = 0; i < Dwords; i++) begin
      quad      = quad_data_i[32*i +: 32];
      k         = quad_k_i[4*i +: 4];
      data_only = (k == 4'b0000);
      ended     = (k == 4'b1000) & ((quad[31:24] == pcie_pkg::End) | (quad[31:24] == pcie_pkg::Edb));
      stp       = (k == 4'b0001) & (quad[7:0] == pcie_pkg::Stp);
      sdp       = (k == 4'b0001) & (quad[7:0] == pcie_pkg::Sdp);

      if (quad_valid_i) begin
        dword_o[32*i +: 32] = {quad[23:0], carry_d[23:16]};
        seq_o[12*i +: 12]   = {quad[11:8], quad[23:16]};
        begin_o[i]          = stp;
        dword_valid_o[i]    = in_tlp_d & (data_only | ended);
        end_o[i]            = in_tlp_d & ended;
        edb_o[i]            = (quad[31:24] == pcie_pkg::Edb);
        broken_o[i]         = in_tlp_d & !data_only & !ended;
        if (in_dllp_d & ended & (quad[31:24] == pcie_pkg::End)) begin
          dllp_valid_o = 1'b1;
          dllp_o       = {quad[23:0], carry_d};
        end
        // Outside of frames there is idle data, and PAD.
        error_o   = error_o | ((in_tlp_d | in_dllp_d) ? ((stp | sdp) | (!data_only & !ended)) :
                               ((k[0] & (quad[7:0] != pcie_pkg::Pad) & !stp & !sdp) | ended));
        in_tlp_d  = stp | (in_tlp_d & data_only);
        in_dllp_d = sdp;
        carry_d   = quad[31:8];
      end
    end
    if (restart_i) begin
      in_tlp_d  = 1'b0;
      in_dllp_d = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_tlp_q  <= 1'b0;
      in_dllp_q <= 1'b0;
      carry_q   <= '0;
    end else begin
      in_tlp_q  <= in_tlp_d;
      in_dllp_q <= in_dllp_d;
      carry_q   <= carry_d;
    end
  end

endmodule
