// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Credits of one class at the sender: what was taken, and up to where the other end allows.
//
// Headers are counted modulo 256, units of 16 bytes of data modulo 4,096, as in the DLLPs. No more than
// half of each is ever open, so the sign of a difference says whether a TLP may go.

module pcie_credit_tx #(
  // Bits of the counter of data; 12, except in proofs.
  parameter int unsigned DataW = 12
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  // A flow-control DLLP of this class. In the initial ones, 0 means without limit.
  input  logic             limit_valid_i,
  input  logic             limit_init_i,
  input  logic [7:0]       limit_header_i,
  input  logic [DataW-1:0] limit_data_i,

  // May a TLP with so much data go? One that goes is taken.
  input  logic [8:0]       need_data_i,
  output logic             allow_o,
  input  logic             take_i
);

  logic [7:0]  header_taken_q, header_limit_q, header_left;
  logic [DataW-1:0] data_taken_q, data_limit_q, data_left;
  logic        header_endless_q, data_endless_q;

  assign header_left = header_limit_q - header_taken_q - 8'd1;
  assign data_left   = data_limit_q - data_taken_q - DataW'(need_data_i);
  assign allow_o = (header_endless_q || header_left < 8'd128) &&
                   (data_endless_q || data_left <= {1'b0, {DataW-1{1'b1}}} || need_data_i == '0);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      header_taken_q   <= '0;
      data_taken_q     <= '0;
      header_limit_q   <= '0;
      data_limit_q     <= '0;
      header_endless_q <= 1'b0;
      data_endless_q   <= 1'b0;
    end else begin
      if (take_i) begin
        header_taken_q <= header_taken_q + 8'd1;
        data_taken_q   <= data_taken_q + DataW'(need_data_i);
      end
      if (limit_valid_i) begin
        header_limit_q <= limit_header_i;
        data_limit_q   <= limit_data_i;
        if (limit_init_i) begin
          header_endless_q <= (limit_header_i == '0);
          data_endless_q   <= (limit_data_i == '0);
        end
      end
    end
  end

endmodule
