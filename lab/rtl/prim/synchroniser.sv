// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Two flip-flops in a row: the only place, with async_fifo, where a signal may come from another clock.
// Each bit is on its own: two bits that change together may arrive one cycle apart. Gray codes and levels
// that stay can pass, other vectors cannot.

module synchroniser #(
  parameter int unsigned      Width      = 1,
  parameter logic [Width-1:0] ResetValue = '0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] q_o
);
  (* ASYNC_REG = "TRUE" *) logic [Width-1:0] first_q;
  (* ASYNC_REG = "TRUE" *) logic [Width-1:0] second_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q  <= ResetValue;
      second_q <= ResetValue;
    end else begin
      first_q  <= d_i;
      second_q <= first_q;
    end
  end

  assign q_o = second_q;
endmodule
