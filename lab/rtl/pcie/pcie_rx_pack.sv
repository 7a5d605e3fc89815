// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Packs the dwords of a TLP into beats, the first dword at the start of a beat.
//
// A frame is two quads longer than the TLP in it. So a last beat that comes a cycle late, because the dword
// before it completed another one, is out before the next TLP has a dword.

module pcie_rx_pack #(
  parameter int unsigned Dwords = 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic [Dwords-1:0]    dword_valid_i,
  input  logic [32*Dwords-1:0] dword_i,
  // With these dwords the TLP is complete, and good; or it is to be dropped.
  input  logic                 accept_i,
  input  logic                 drop_i,

  output logic                 valid_o,
  output logic [32*Dwords-1:0] data_o,
  output logic [Dwords-1:0]    keep_o,
  output logic                 last_o,
  output logic                 drop_o
);

  assign drop_o = drop_i;

  if (Dwords == 1) begin : gen_one
    logic unused_clk;
    assign unused_clk = clk_i & rst_ni;
    assign valid_o = dword_valid_i[0];
    assign data_o  = dword_i;
    assign keep_o  = 1'b1;
    assign last_o  = accept_i;
  end else begin : gen_two
    // A dword without its partner; with `late_q` the last one of its TLP.
    logic        half_q, half_d, late_q, late_d;
    logic [31:0] data_q, data_d;

    always_comb begin
      valid_o = 1'b0;
      data_o  = {dword_i[31:0], data_q};
      keep_o  = 2'b11;
      last_o  = 1'b0;
      half_d  = half_q;
      late_d  = 1'b0;
      data_d  = data_q;
      if (late_q) begin
        valid_o = 1'b1;
        keep_o  = 2'b01;
        last_o  = 1'b1;
        half_d  = 1'b0;
      end else begin
        unique case ({half_q, dword_valid_i})
          3'b011: begin
            valid_o = 1'b1;
            data_o  = dword_i;
            last_o  = accept_i;
          end
          3'b001, 3'b010: begin
            data_d  = dword_valid_i[0] ? dword_i[31:0] : dword_i[63:32];
            data_o  = {32'd0, data_d};
            valid_o = accept_i;
            keep_o  = 2'b01;
            last_o  = accept_i;
            half_d  = !accept_i;
          end
          3'b111: begin
            valid_o = 1'b1;
            data_d  = dword_i[63:32];
            late_d  = accept_i;
          end
          3'b101, 3'b110: begin
            valid_o = 1'b1;
            data_o  = {dword_valid_i[0] ? dword_i[31:0] : dword_i[63:32], data_q};
            last_o  = accept_i;
            half_d  = 1'b0;
          end
          default: ;
        endcase
      end
      if (drop_i) half_d = 1'b0;
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        half_q <= 1'b0;
        late_q <= 1'b0;
        data_q <= '0;
      end else begin
        half_q <= half_d;
        late_q <= late_d;
        data_q <= data_d;
      end
    end
  end

endmodule
