// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Takes the frames of generation 3 apart: tokens in front that say how long a frame is.
//
// The outputs are those of pcie_deframer. A token that is wrong ends the data stream, because nothing says
// where the next begins: `error_o` stays until the link has retrained. A TLP that its sender takes back has
// an inverted LCRC, and EDB behind it; the LCRC says it alone, so EDB only has to stand where it may. EDS says
// that an ordered set follows, which the physical layer takes out: here it is as idle as IDL.

module pcie_deframer3 #(
  parameter int unsigned Dwords = 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // A data stream begins.
  input  logic                 restart_i,

  input  logic                 quad_valid_i,
  input  logic [32*Dwords-1:0] quad_data_i,

  output logic [Dwords-1:0]    begin_o,
  output logic [12*Dwords-1:0] seq_o,
  output logic [Dwords-1:0]    dword_valid_o,
  output logic [32*Dwords-1:0] dword_o,
  output logic [Dwords-1:0]    end_o,

  output logic                 dllp_valid_o,
  output logic [47:0]          dllp_o,
  output logic                 error_o,
  // No frame is open behind the quads of this cycle.
  output logic                 between_o
);

  // Dwords that are left of the TLP, its LCRC among them.
  logic [10:0] left_q, left_d;
  logic        in_dllp_q, in_dllp_d, after_tlp_q, after_tlp_d, error_q, error_d;
  logic [15:0] carry_q, carry_d;

  logic [31:0] quad;
  logic [10:0] len;
  logic        stp, sdp, edb, eds;

  always_comb begin
    left_d        = left_q;
    in_dllp_d     = in_dllp_q;
    after_tlp_d   = after_tlp_q;
    error_d       = error_q;
    carry_d       = carry_q;
    begin_o       = '0;
    seq_o         = '0;
    dword_valid_o = '0;
    dword_o       = quad_data_i;
    end_o         = '0;
    dllp_valid_o  = 1'b0;
    dllp_o        = '0;
    quad          = '0;
    len           = '0;
    stp           = 1'b0;
    sdp           = 1'b0;
    edb           = 1'b0;
    eds           = 1'b0;

    for (int unsigned i = 0; i < Dwords; i++) begin
      quad = quad_data_i[32*i +: 32];
      len  = quad[14:4];
      stp  = (quad == pcie_pkg::stp_token(len, {quad[19:16], quad[31:24]})) &
             (len >= pcie_pkg::LenLeast) & (len < pcie_pkg::LenReserved);
      sdp  = (quad[15:0] == pcie_pkg::SdpToken);
      edb  = (quad == pcie_pkg::EdbToken);
      eds  = (quad == pcie_pkg::EdsToken);
      seq_o[12*i +: 12] = {quad[19:16], quad[31:24]};

      if (quad_valid_i & !error_d) begin
        if (left_d != '0) begin
          dword_valid_o[i] = 1'b1;
          end_o[i]         = (left_d == 11'd1);
          after_tlp_d      = 1'b1;
          left_d           = left_d - 11'd1;
        end else if (in_dllp_d) begin
          dllp_valid_o = 1'b1;
          dllp_o       = {quad, carry_d};
          in_dllp_d    = 1'b0;
        end else begin
          begin_o[i]  = stp;
          in_dllp_d   = sdp;
          error_d     = !stp & !sdp & !eds & !(edb & after_tlp_d) & (quad != '0);
          if (stp) left_d = len - 11'd1;
          after_tlp_d = 1'b0;
        end
        carry_d = quad[31:16];
      end
    end
    between_o = (left_d == '0) & !in_dllp_d;
    if (restart_i) begin
      left_d      = '0;
      in_dllp_d   = 1'b0;
      after_tlp_d = 1'b0;
      error_d     = 1'b0;
    end
  end

  assign error_o = error_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q      <= '0;
      in_dllp_q   <= 1'b0;
      after_tlp_q <= 1'b0;
      error_q     <= 1'b0;
      carry_q     <= '0;
    end else begin
      left_q      <= left_d;
      in_dllp_q   <= in_dllp_d;
      after_tlp_q <= after_tlp_d;
      error_q     <= error_d;
      carry_q     <= carry_d;
    end
  end

endmodule
