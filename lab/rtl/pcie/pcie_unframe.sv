// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The deframer of the generation in use.

module pcie_unframe #(
  parameter int unsigned Dwords = 1,
  parameter bit          Gen3   = 1'b1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 gen3_i,
  input  logic                 restart_i,

  input  logic                 quad_valid_i,
  input  logic [32*Dwords-1:0] quad_data_i,
  input  logic [4*Dwords-1:0]  quad_k_i,

  // See pcie_deframer.
  output logic [Dwords-1:0]    begin_o,
  output logic [12*Dwords-1:0] seq_o,
  output logic [Dwords-1:0]    dword_valid_o,
  output logic [32*Dwords-1:0] dword_o,
  output logic [Dwords-1:0]    end_o,
  output logic [Dwords-1:0]    edb_o,
  output logic [Dwords-1:0]    broken_o,
  output logic                 dllp_valid_o,
  output logic [47:0]          dllp_o,
  // A pulse.
  output logic                 error_o,
  // Generation 3: nothing is received until `restart_i`.
  output logic                 stuck_o,
  output logic                 between_o
);

  logic [Dwords-1:0]    begin12, valid12, end12, edb12, broken12;
  logic [12*Dwords-1:0] seq12;
  logic [32*Dwords-1:0] dword12;
  logic                 dllp_valid12, error12;
  logic [47:0]          dllp12;

  pcie_deframer #(
    .Dwords (Dwords)
  ) u_deframer (
    .clk_i,
    .rst_ni,
    .restart_i     (restart_i | gen3_i),
    .quad_valid_i  (quad_valid_i & !gen3_i),
    .quad_data_i,
    .quad_k_i,
    .begin_o       (begin12),
    .seq_o         (seq12),
    .dword_valid_o (valid12),
    .dword_o       (dword12),
    .end_o         (end12),
    .edb_o         (edb12),
    .broken_o      (broken12),
    .dllp_valid_o  (dllp_valid12),
    .dllp_o        (dllp12),
    .error_o       (error12)
  );

  assign edb_o    = edb12;
  assign broken_o = broken12;

  if (Gen3) begin : gen_gen3
    logic [Dwords-1:0]    begin3, valid3, end3;
    logic [12*Dwords-1:0] seq3;
    logic [32*Dwords-1:0] dword3;
    logic                 dllp_valid3, stuck_q;
    logic [47:0]          dllp3;

    pcie_deframer3 #(
      .Dwords (Dwords)
    ) u_deframer3 (
      .clk_i,
      .rst_ni,
      .restart_i     (restart_i | !gen3_i),
      .quad_valid_i  (quad_valid_i & gen3_i),
      .quad_data_i,
      .begin_o       (begin3),
      .seq_o         (seq3),
      .dword_valid_o (valid3),
      .dword_o       (dword3),
      .end_o         (end3),
      .dllp_valid_o  (dllp_valid3),
      .dllp_o        (dllp3),
      .error_o       (stuck_o),
      .between_o
    );

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) stuck_q <= 1'b0;
      else stuck_q <= stuck_o;
    end

    assign begin_o       = begin12 | begin3;
    assign seq_o         = gen3_i ? seq3 : seq12;
    assign dword_valid_o = valid12 | valid3;
    assign dword_o       = gen3_i ? dword3 : dword12;
    assign end_o         = end12 | end3;
    assign dllp_valid_o  = dllp_valid12 | dllp_valid3;
    assign dllp_o        = gen3_i ? dllp3 : dllp12;
    assign error_o       = error12 | (stuck_o & !stuck_q);
  end else begin : gen_no_gen3
    assign begin_o       = begin12;
    assign seq_o         = seq12;
    assign dword_valid_o = valid12;
    assign dword_o       = dword12;
    assign end_o         = end12;
    assign dllp_valid_o  = dllp_valid12;
    assign dllp_o        = dllp12;
    assign error_o       = error12;
    assign stuck_o       = 1'b0;
    assign between_o     = 1'b0;
  end

endmodule
